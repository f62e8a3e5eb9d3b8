#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/config.hpp"

namespace sluice::proxy {

/// Bytes of the packet-buffer budget that are reserved because the window advertised to one host permits them.
struct Reservation {
  std::uint32_t bytes = 0;
  /// Number of the epoch (period of 0.27 s) in which the reservation was last updated, see
  /// BufferPoolBudget::epoch_of().
  std::uint16_t epoch = 0;
};

/// Budget of packet buffers for the payload of a shard's split connections, and its division among them. The budget is
/// the pool minus the ports' buffers and a reserve. The free part of the budget is neither occupied by packets nor
/// reserved for advertised windows.
///
/// One direction of a connection may hold and reserve up to two thirds of what would be free without it. Therefore n
/// directions with unlimited demand get B / (n + 1/2) each, where B is the budget. A new direction always gets a part.
/// These are the dynamic thresholds of shared-memory switches (Choudhury and Hahne, IEEE/ACM Transactions on Networking
/// 6(2), 1998) with alpha = 2.
///
/// A reservation expires two seconds after its last update. Idle connections together may have advertised more than the
/// pool contains, but rarely use these windows at once. After a pause a sender restarts with its initial window (RFC
/// 5681 section 4.1). If many senders send nevertheless, payload is refused before it is acknowledged (is_exhausted()),
/// and the reserve remains.
///
/// The number of free buffers in the pool is read at most every 100 us. Thread: the shard's.
class BufferPoolBudget {
 public:
  /// Payload bytes per buffer: those of a full segment with timestamps and some options. Smaller payloads are merged
  /// into full buffers.
  static constexpr std::int64_t payload_per_buffer = 1400;

  /// Computes from the limits and the pool how many buffers payload may occupy (the budget). The pool must outlive this
  /// object.
  BufferPoolBudget(const ShardLimits& limits, const packet::PacketPool& pool);

  /// Returns how many payload bytes all connections of one shard may occupy (its budget), for a pool of `buffers`
  /// buffers.
  [[nodiscard]] static Bytes whole(const ShardLimits& limits, std::uint32_t buffers);
  /// Returns the maximum payload bytes that one direction of a connection may hold and have advertised as window, if
  /// there is no other connection. `buffers` is the number of buffers in the pool.
  [[nodiscard]] static Bytes largest(const ShardLimits& limits, std::uint32_t buffers);

  /// Reads the number of free buffers in the pool if that is due, and expires old reservations of windows. Returns true
  /// if it has read the number.
  bool look(Instant now);
  /// True if the number of free buffers in the pool must be read again. A reading is due every millisecond, or every
  /// 100 us if few buffers are free. Readings are not more frequent, because all threads write to the memory that is
  /// read.
  [[nodiscard]] bool is_due(Instant now) const {
    return now >= next_look_ || (is_low() && now >= next_look_ - usual_period + low_period);
  }
  /// Records that the buffer of a received packet stays occupied, by queued payload or by a delayed ACK.
  void on_taken() { --spare_; }
  /// Changes the reservation for one host's advertised window to `bytes`.
  void reserve(Reservation& reservation, std::uint32_t bytes) {
    std::int64_t& known = by_epoch_[epoch_ % epochs];
    if (reservation.epoch == epoch_ && known >= reservation.bytes) [[likely]] {
      const std::int64_t more = std::int64_t{bytes} - reservation.bytes;
      known += more;
      reserved_ += more;
      reservation.bytes = bytes;
    } else if ((bytes | reservation.bytes) != 0) {
      move_reservation(reservation, bytes);
    }
  }
  /// Removes the buffers' reservation for the window of a connection that ends.
  void forget(Reservation& reservation) { this->reserve(reservation, 0); }

  /// Returns the maximum payload bytes that one direction of a connection may hold and have advertised as window. `own`
  /// is what it holds and has advertised now.
  [[nodiscard]] Bytes max_quota(Bytes own) const { return two_thirds(free() + own); }
  /// Returns the maximum payload bytes that one direction of a connection may hold and have advertised as window while
  /// its demand is not measured. The demand (ReceiveBufferDemand) is the number of bytes that the direction needs to
  /// transfer data without pauses. The share 1 − limits.shrink_windows_at of the budget is kept for directions with a
  /// measured demand. `own` is what the direction holds and has advertised now.
  [[nodiscard]] Bytes max_without_demand(Bytes own) const { return two_thirds(free() - reserved_for_demand_ + own); }
  /// Returns the maximum payload bytes that one direction of a connection may hold and have advertised as window under
  /// the limit of its UE (limits.ue_share). `reserved` is what all connections of the UE hold and have advertised, and
  /// `own` is the direction's part of `reserved`.
  [[nodiscard]] Bytes max_quota_of_ue(Bytes reserved, Bytes own) const {
    return two_thirds(of_one_ue_ - reserved + own);
  }

  /// True if memory is plentiful: a direction that holds nothing may hold and advertise `bytes`, under both
  /// max_without_demand() and max_quota_of_ue(). `reserved` is what all connections of the UE hold and have advertised.
  [[nodiscard]] bool is_ample(Bytes bytes, Bytes reserved) const {
    return free() - reserved_for_demand_ >= bytes * 2 && of_one_ue_ - reserved >= bytes * 2;
  }

  /// True if at most an eighth of the packet buffers for payload (the budget) is left. Out-of-order data is then
  /// refused, and no ACK is delayed.
  [[nodiscard]] bool is_low() const { return spare_ <= low_watermark_; }
  /// True if the packet buffers for payload (the budget) are used up. Only the reserve for receiving and forwarding is
  /// free. Payload is then refused for a connection that already holds two segments.
  [[nodiscard]] bool is_exhausted() const { return spare_ <= 0; }
  /// True if payload occupies all packet buffers for payload, and also half of the reserve for receiving and
  /// forwarding. Payload of all connections is then refused.
  [[nodiscard]] bool reserve_touched() const { return spare_ <= -half_pool_reserve_; }
  /// Returns the share (0 … 1) of buffers in use, among those buffers that the ports cannot occupy.
  [[nodiscard]] double used() const { return used_; }

 private:
  /// Interval between two readings of the number of free buffers in the pool, unless few buffers are free.
  static constexpr Duration usual_period = std::chrono::milliseconds(1);
  static constexpr Duration low_period = std::chrono::microseconds(100);
  /// Number of epochs (periods of 0.27 s) after which a window reservation expires.
  static constexpr std::size_t epochs = 8;
  static constexpr unsigned epoch_bits = 28;  ///< log2 of the length of an epoch in ns: 2^28 ns = 0.27 s

  /// Returns the number of the epoch (period of 2^28 ns = 0.27 s) that contains the time `at`, modulo 2^16.
  static std::uint16_t epoch_of(Instant at) {
    return static_cast<std::uint16_t>(at.time_since_epoch().count() >> epoch_bits);
  }
  [[nodiscard]] static Bytes two_thirds(Bytes bytes) { return bytes * 2 / 3; }
  /// Returns the bytes of the budget that are neither occupied by packets nor reserved for advertised windows.
  [[nodiscard]] Bytes free() const { return Bytes(spare_ * payload_per_buffer - reserved_); }
  /// Moves a window reservation to the current epoch (period of 0.27 s), and changes it to `bytes`.
  [[gnu::noinline]] void move_reservation(Reservation& reservation, std::uint32_t bytes);
  /// Advances to the epoch (period of 0.27 s) with this number. Expires the window reservations of the epochs that are
  /// then more than two seconds old.
  void expire_reservations(std::uint16_t epoch);

  const packet::PacketPool& pool_;
  std::uint32_t sharers_;        ///< number of shards that share the pool
  std::uint32_t left_by_ports_;  ///< number of buffers that the ports cannot occupy
  /// number of buffers, part of left_by_ports_, that are kept free for receiving and forwarding
  std::uint32_t pool_reserve_;
  /// half of this shard's part of the buffers in pool_reserve_; see reserve_touched()
  std::int64_t half_pool_reserve_;
  std::int64_t low_watermark_;  ///< number of buffers left in the budget at or below which is_low() is true
  /// bytes of the budget that only directions with a measured receive-buffer demand may use
  Bytes reserved_for_demand_;
  Bytes of_one_ue_;  ///< bytes of the budget that the connections of one UE may use together
  /// number of buffers that payload may still occupy; negative while payload uses the reserve
  std::int64_t spare_ = 0;
  std::int64_t reserved_ = 0;  ///< sum of all window reservations that have not expired
  /// sum of the reservations of each epoch (period of 0.27 s), indexed by the epoch modulo `epochs`
  std::array<std::int64_t, epochs> by_epoch_{};
  std::uint16_t epoch_ = 0;
  double used_ = 0;
  Instant next_look_{};  ///< time at which the number of free buffers is read next; if few are free, it is read earlier
};

}  // namespace sluice::proxy

#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/config.hpp"

namespace sluice::proxy {

/// Reservation of memory: the bytes of window advertised to a host, as last recorded in the buffer budget.
struct Reservation {
  std::uint32_t bytes = 0;
  std::uint16_t epoch = 0;  ///< epoch in which the reservation was recorded, see BufferPoolBudget::epoch_of()
};

/// Budget of packet buffers for the payload of a shard's split connections. It also divides the budget among these
/// connections.
///
/// The budget is the pool minus the ports' buffers and a reserve. Its free part is neither used by packets nor reserved
/// for windows. One direction may hold and reserve in total two thirds of the buffers that would be free without it. So
/// n directions with unlimited demand get B / (n + 1/2) each, a single one gets two thirds, and a new one always gets a
/// part. These are the dynamic thresholds of shared-memory switches (Choudhury and Hahne, IEEE/ACM Transactions on
/// Networking 6(2), 1998) with alpha = 2.
///
/// A reservation for an advertised window counts for two seconds after the last service of its connection. Idle
/// connections together have advertised far more than any pool contains, but their senders rarely use these windows at
/// once. After a pause a sender starts with its initial window (RFC 5681 section 4.1). If many senders use them,
/// payload is refused before it is acknowledged (is_exhausted()), and the reserve remains.
///
/// The number of free buffers in the pool is read at most every 100 us. Thread: the shard's.
class BufferPoolBudget {
 public:
  /// Payload bytes per buffer: a full segment with timestamps and some options. Smaller payloads are coalesced.
  static constexpr std::int64_t payload_per_buffer = 1400;

  /// Computes the budget from the limits and the pool, which outlives this object.
  BufferPoolBudget(const ShardLimits& limits, const packet::PacketPool& pool);

  /// Returns the budget of one shard in bytes, for a pool of `buffers` buffers.
  [[nodiscard]] static Bytes whole(const ShardLimits& limits, std::uint32_t buffers);
  /// Returns the bytes that one direction of a connection can get if it is alone.
  [[nodiscard]] static Bytes largest(const ShardLimits& limits, std::uint32_t buffers);

  /// Reads the number of free buffers in the pool if that is due, and expires old reservations (advertised windows).
  /// Returns true if the number was read.
  bool look(Instant now);
  /// True if the number of free buffers in the pool should be read. All threads write the cache lines of that number.
  /// So it is read every millisecond, or every 100 us while few buffers are left.
  [[nodiscard]] bool is_due(Instant now) const {
    return now >= next_look_ || (is_low() && now >= next_look_ - usual_period + low_period);
  }
  /// Records that a received packet buffer stays occupied: by queued payload, or by a delayed ACK.
  void on_taken() { --spare_; }
  /// Changes the reserved bytes of an advertised window to `bytes`.
  void reserve(Reservation& reservation, std::uint32_t bytes) {
    if (bytes != reservation.bytes || (bytes != 0 && epoch_ != reservation.epoch))
      update_reservation(reservation, bytes);
  }
  /// Removes the reservation (advertised window) of a connection that ends.
  void forget(Reservation& reservation) { this->reserve(reservation, 0); }

  /// Returns the bytes that one direction of a connection may hold and have advertised together. `own`: what it holds
  /// and has advertised already.
  [[nodiscard]] Bytes max_quota(Bytes own) const { return two_thirds(free() + own); }
  /// Returns the bytes that one direction of a connection without measured demand may hold and have advertised
  /// together. Such a direction may use only the first part of the budget (limits.shrink_windows_at). `own`: what it
  /// holds and has advertised already.
  [[nodiscard]] Bytes max_without_demand(Bytes own) const { return two_thirds(free() - reserved_for_demand_ + own); }
  /// Returns the bytes that one direction of a connection may hold and have advertised under the limit of its UE.
  /// `reserved`: total of the UE's connections; `own`: the direction's part of that total.
  [[nodiscard]] Bytes max_quota_of_ue(Bytes reserved, Bytes own) const {
    return two_thirds(of_one_ue_ - reserved + own);
  }

  /// True if memory is plentiful: max_without_demand() and max_quota_of_ue() both exceed `bytes`, whatever the
  /// direction of a connection holds. `reserved`: total of the UE's connections.
  [[nodiscard]] bool is_ample(Bytes bytes, Bytes reserved) const {
    return free() - reserved_for_demand_ >= bytes * 2 && of_one_ue_ - reserved >= bytes * 2;
  }

  /// True if an eighth of the budget or less is left. Then out-of-order data is refused.
  [[nodiscard]] bool is_low() const { return spare_ <= low_watermark_; }
  /// True if all of the budget is used and only the reserve is left. Then payload is refused.
  [[nodiscard]] bool is_exhausted() const { return spare_ <= 0; }
  /// True if half of the reserve is used too. Then payload is refused even for connections that hold almost nothing.
  [[nodiscard]] bool reserve_touched() const { return spare_ <= -half_pool_reserve_; }
  /// Returns the used share of the buffers that the ports do not occupy.
  [[nodiscard]] double used() const { return used_; }

 private:
  /// Normal interval between two reads of the number of free buffers in the pool.
  static constexpr Duration usual_period = std::chrono::milliseconds(1);
  static constexpr Duration low_period = std::chrono::microseconds(100);
  /// Number of epochs after which the reservation of an advertised window expires.
  static constexpr std::size_t epochs = 8;
  static constexpr unsigned epoch_bits = 28;  ///< length of an epoch: 2^28 ns = 0.27 s

  /// Returns the number of the epoch in which a time lies, modulo 2^16.
  static std::uint16_t epoch_of(Instant at) {
    return static_cast<std::uint16_t>(at.time_since_epoch().count() >> epoch_bits);
  }
  [[nodiscard]] static Bytes two_thirds(Bytes bytes) { return bytes * 2 / 3; }
  /// Returns the bytes of the budget that are neither occupied by packets nor reserved by advertised windows.
  [[nodiscard]] Bytes free() const { return Bytes(spare_ * payload_per_buffer - reserved_); }
  /// Moves the reservation of an advertised window to the current epoch and changes it to `bytes`.
  [[gnu::noinline]] void update_reservation(Reservation& reservation, std::uint32_t bytes);
  /// Expires the reservations of advertised windows whose epochs are too old.
  void let_age(std::uint16_t epoch);

  const packet::PacketPool& pool_;
  std::uint32_t sharers_;           ///< number of shards that allocate from the pool
  std::uint32_t left_by_ports_;     ///< number of buffers that the ports do not occupy
  std::uint32_t pool_reserve_;      ///< buffers kept free for receiving and forwarding, part of left_by_ports_
  std::int64_t half_pool_reserve_;  ///< half of this shard's part of pool_reserve_, in buffers
  std::int64_t low_watermark_;      ///< number of remaining buffers of the budget at which is_low() becomes true
  Bytes reserved_for_demand_;       ///< bytes of the budget that only directions with measured demand may use
  Bytes of_one_ue_;                 ///< bytes of the budget that one UE's connections may use together
  std::int64_t spare_ = 0;     ///< number of buffers that payload may still occupy; negative once the reserve is used
  std::int64_t reserved_ = 0;  ///< bytes reserved by windows that were advertised in the last epochs
  std::array<std::int64_t, epochs> by_epoch_{};  ///< reserved bytes by the epoch of their reservation, modulo `epochs`
  std::uint16_t epoch_ = 0;
  double used_ = 0;
  Instant next_look_{};  ///< time of the next read of the pool's free buffers, unless they become scarce before
};

}  // namespace sluice::proxy

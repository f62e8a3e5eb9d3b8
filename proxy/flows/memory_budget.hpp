#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/shard/config.hpp"

namespace sluice::proxy {

/// What a host was told as window, as the budget was last told.
struct Commitment {
  std::uint32_t bytes = 0;
  std::uint16_t epoch = 0;  ///< when, see MemoryBudget::epoch_of()
};

/// How many packet buffers the payload of a shard's split connections may take, and how the connections share them.
///
/// The pool less what the ports keep of it and a reserve is the budget. Free is what is neither taken nor committed.
/// One direction of a connection may hold and commit together at most two thirds of what would be free without it. So
/// whoever comes finds something, n connections that all want more get B / (n + 1/2) each, and one alone two thirds of
/// the budget: the dynamic thresholds of shared-memory switches (Choudhury and Hahne, IEEE/ACM Transactions on
/// Networking 6(2), 1998) with alpha = 2.
///
/// A commitment counts for two seconds after its connection was last served. Idle connections were advertised far more
/// than any pool holds, and hardly ever does one of their senders use it at once: after a pause a sender begins with
/// its initial window (RFC 5681 section 4.1). Where many do all the same, payload is refused before it is acknowledged
/// (exhausted()), and the reserve stays.
///
/// Reads the pool's level at most every 100 us. Thread: the shard's.
class MemoryBudget {
 public:
  /// Payload that a buffer carries: a full segment with timestamps and some options. What is smaller is joined.
  static constexpr std::int64_t payload_per_buffer = 1400;

  MemoryBudget(const ShardLimits& limits, const packet::PacketPool& pool);

  /// What the budget of a shard comes to with a pool of so many buffers.
  [[nodiscard]] static Bytes whole(const ShardLimits& limits, std::uint32_t buffers);
  /// And the most that one direction of a connection can have of it, alone.
  [[nodiscard]] static Bytes largest(const ShardLimits& limits, std::uint32_t buffers);

  /// Looks at the pool, and lets old commitments go. True when the pool's level was read anew.
  bool look(Instant now);
  /// … which it is not before: the level stands in lines of memory that all threads write, so it is looked at now and
  /// then, and more often while little is left.
  [[nodiscard]] bool is_due(Instant now) const {
    return now >= next_look_ || (tight() && now >= next_look_ - usual_period + tight_period);
  }
  /// A received buffer stays here: in a queue of payload, or as an ACK that waits.
  void taken() { --spare_; }
  /// The commitment is now this many bytes.
  void commit(Commitment& commitment, std::uint32_t bytes) {
    if (bytes != commitment.bytes || (bytes != 0 && epoch_ != commitment.epoch)) commit_anew(commitment, bytes);
  }
  /// Its connection ends.
  void forget(Commitment& commitment) { this->commit(commitment, 0); }

  /// What one direction may hold and commit together, when it has `own` already: as much as the budget has for it.
  [[nodiscard]] Bytes most(Bytes own) const { return two_thirds(free() + own); }
  /// The same for what it has not shown to need: of the first share of the budget only (limits.shrink_windows_at).
  [[nodiscard]] Bytes most_unasked(Bytes own) const { return two_thirds(free() - kept_for_need_ + own); }
  /// The same among the connections of one UE, which have `committed` together.
  [[nodiscard]] Bytes most_of_ue(Bytes committed, Bytes own) const { return two_thirds(of_one_ue_ - committed + own); }

  /// There is more than enough for a direction to have `bytes` without need, and for one more of a UE whose connections
  /// have `committed` together, whatever the direction itself has: most_unasked() and most_of_ue() come to more.
  [[nodiscard]] bool is_ample(Bytes bytes, Bytes committed) const {
    return free() - kept_for_need_ >= bytes * 2 && of_one_ue_ - committed >= bytes * 2;
  }

  /// An eighth of the budget is left, or less: what came before its turn finds no room.
  [[nodiscard]] bool tight() const { return spare_ <= tight_below_; }
  /// Nothing is left but the reserve: payload is refused.
  [[nodiscard]] bool exhausted() const { return spare_ <= 0; }
  /// Half of the reserve is gone too: payload is refused even of connections that hold next to nothing.
  [[nodiscard]] bool reserve_touched() const { return spare_ <= -half_reserve_; }
  /// Share of what the ports leave of the pool that is in use, by whomever.
  [[nodiscard]] double used() const { return used_; }

 private:
  static constexpr Duration usual_period = std::chrono::milliseconds(1);
  static constexpr Duration tight_period = std::chrono::microseconds(100);
  static constexpr std::size_t epochs = 8;
  static constexpr unsigned epoch_bits = 28;  ///< of nanoseconds: 0.27 s

  static std::uint16_t epoch_of(Instant at) {
    return static_cast<std::uint16_t>(at.time_since_epoch().count() >> epoch_bits);
  }
  [[nodiscard]] static Bytes two_thirds(Bytes bytes) { return bytes * 2 / 3; }
  [[nodiscard]] Bytes free() const { return Bytes(spare_ * payload_per_buffer - committed_); }
  [[gnu::noinline]] void commit_anew(Commitment& commitment, std::uint32_t bytes);
  void let_age(std::uint16_t epoch);

  const packet::PacketPool& pool_;
  std::uint32_t sharers_;        ///< shards that take from the pool
  std::uint32_t left_by_ports_;  ///< buffers of the pool that the ports do not keep
  std::uint32_t reserve_;        ///< of these
  std::int64_t half_reserve_;    ///< of this shard's part of it
  std::int64_t tight_below_;     ///< buffers
  Bytes kept_for_need_;
  Bytes of_one_ue_;
  std::int64_t spare_ = 0;      ///< buffers that payload may still take
  std::int64_t committed_ = 0;  ///< bytes, of the last epochs
  std::array<std::int64_t, epochs> by_epoch_{};
  std::uint16_t epoch_ = 0;
  double used_ = 0;
  Instant next_look_{};  ///< unless it becomes tight
};

}  // namespace sluice::proxy

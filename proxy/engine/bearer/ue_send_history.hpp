#pragma once

#include <cstdint>

#include "control/smvs/in_flight.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/pooled.hpp"

namespace sluice::proxy {

/// Send history of one UE, stored in a pool. Contains times and sizes of the packets that may still be in flight to the
/// Node-B.
struct RecentSends {
  RecentSends(Duration round_trip, std::uint32_t of) : bytes(round_trip), bearer(of) {}

  control::InFlight bytes;
  std::uint32_t bearer;  ///< index of the bearer that owns the history
};

/// Pool of send histories, with the parameters that a new history needs.
struct RecentSendsPool {
  flow::Slab<RecentSends>& pool;
  Duration round_trip;  ///< 2·τp: round trip from the proxy to the Node-B and back
  std::uint32_t bearer;
};

/// Counts the IP bytes sent to a UE, and stores the send times of those that may still be in flight to the Node-B.
/// Bytes of a single send time are stored in this object. For more send times, a history is created in a pool. Most UEs
/// are idle and need none. Thread: the shard's.
class UeSendHistory {
 public:
  /// Returns the total number of IP bytes sent to the UE.
  [[nodiscard]] std::uint64_t total() const { return recent_ ? recent_->bytes.total() : sum_; }
  /// Adds `bytes` to the send history in the pool. Returns false if the UE has no history there; the caller then calls
  /// start_history().
  [[nodiscard]] bool count(Instant now, Bytes bytes) {
    if (!recent_) [[unlikely]]
      return false;
    recent_->bytes.on_sent(now, bytes);
    return true;
  }
  /// Records `bytes` for a UE without a history in the pool. Stores them in this object if no older packet is in flight
  /// to the Node-B, else creates a history. `place` contains the pool and the parameters of a new history.
  void start_history(Instant now, Bytes bytes, const RecentSendsPool& place);
  /// Returns the estimator of the bytes in flight to the Node-B. Creates it on first use, in the pool that `place`
  /// contains.
  [[nodiscard]] control::InFlight& in_flight(const RecentSendsPool& place) {
    return (recent_ ? *recent_ : begin(place)).bytes;
  }
  /// Frees the history in the pool if no packet can be in flight to the Node-B any more. Only the total number of bytes
  /// is kept.
  void release_idle(Instant now, flow::Slab<RecentSends>& pool);
  /// Copies the total and the history of another bearer of this UE.
  void inherit(const UeSendHistory& before, const RecentSendsPool& place);
  /// Prefetches the cache lines that the processing of a Node-B report reads.
  void prefetch() const {
    if (recent_) recent_->bytes.prefetch();
  }
  /// Frees the history in the pool, because the owner is being destroyed.
  void drop(flow::Slab<RecentSends>& pool) { recent_.drop(pool); }

 private:
  /// Creates a history in the pool from the values in this object.
  [[gnu::noinline]] RecentSends& begin(const RecentSendsPool& place);

  std::uint32_t last_ = 0;  ///< bytes sent at the time `last_at_`; `sum_` includes them
  /// time of the newest packet; without a history in the pool, all older packets have reached the Node-B
  Instant last_at_{};
  std::uint64_t sum_ = 0;  ///< total number of IP bytes sent, used while there is no history in the pool
  Pooled<RecentSends> recent_;
};

}  // namespace sluice::proxy

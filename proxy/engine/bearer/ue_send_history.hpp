#pragma once

#include <cstdint>

#include "control/smvs/in_flight.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/pooled.hpp"

namespace sluice::proxy {

/// Send history of one UE in a pool: times and sizes of recent packets, stored for as long as they may be in flight to
/// the Node-B.
struct RecentSends {
  RecentSends(Duration round_trip, std::uint32_t of) : bytes(round_trip), bearer(of) {}

  control::InFlight bytes;
  std::uint32_t bearer;  ///< index of the bearer that owns the history
};

/// Pool of send histories, with the parameters from which one is created.
struct RecentSendsPool {
  flow::Slab<RecentSends>& pool;
  Duration round_trip;  ///< 2·τp: round trip from the proxy to the Node-B and back
  std::uint32_t bearer;
};

/// Counts IP bytes sent towards a UE, and stores the send times of recent packets. The newest packet is stored inline.
/// If a second one within the horizon (the age up to which packets matter) exists, the history moves to a pool. Most
/// UEs are idle and need none. Thread: the shard's.
class UeSendHistory {
 public:
  /// Returns the IP bytes sent since the beginning.
  [[nodiscard]] std::uint64_t total() const { return recent_ ? recent_->bytes.total() : sum_; }
  /// Adds `bytes` to the send history in the pool. Returns false if the UE has none there; then call start_history()
  /// instead.
  [[nodiscard]] bool count(Instant now, Bytes bytes) {
    if (!recent_) [[unlikely]]
      return false;
    recent_->bytes.on_sent(now, bytes);
    return true;
  }
  /// Adds `bytes` to the inline values if at most one send time matters, else creates the UE's history in the pool.
  void start_history(Instant now, Bytes bytes, const RecentSendsPool& place);
  /// Returns the estimator of bytes in flight to the Node-B and creates it on first use.
  [[nodiscard]] control::InFlight& in_flight(const RecentSendsPool& place) {
    return (recent_ ? *recent_ : begin(place)).bytes;
  }
  /// Returns the send history to the pool if only the sum of bytes matters. The last packet can then no longer be in
  /// flight to the Node-B.
  void release_idle(Instant now, flow::Slab<RecentSends>& pool);
  /// Copies the sum and the history of another bearer of this UE.
  void inherit(const UeSendHistory& before, const RecentSendsPool& place);
  /// Prefetches the cache lines that the processing of a Node-B report reads.
  void prefetch() const {
    if (recent_) recent_->bytes.prefetch();
  }
  /// Returns the send history to the pool, because the owner is destroyed.
  void drop(flow::Slab<RecentSends>& pool) { recent_.drop(pool); }

 private:
  /// Creates the send history in the pool from the inline values.
  [[gnu::noinline]] RecentSends& begin(const RecentSendsPool& place);

  std::uint32_t last_ = 0;  ///< bytes of `sum_` that were sent at time `last_at_`
  Instant last_at_{};       ///< time of the newest send; older sends are beyond the horizon
  std::uint64_t sum_ = 0;   ///< cumulative IP bytes sent, used while there is no pooled history
  Pooled<RecentSends> recent_;
};

}  // namespace sluice::proxy

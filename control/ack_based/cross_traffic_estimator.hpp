#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates which traffic fills a UE's radio queue: the connections that the proxy controls, or cross traffic (UDP,
/// QUIC, other connections). The rates are exponential means over 0.5 s, and include times without traffic. Memory and
/// work per call are constant. Reads no clock. Not thread-safe.
class CrossTrafficEstimator {
 public:
  /// Adds `controlled` acknowledged bytes of connections that the proxy controls, and `cross` bytes of other traffic.
  /// `since` is the time since the previous call; zero if both calls are at the same time.
  void on_bytes(Bytes controlled, Bytes cross, Duration since);
  /// Adds `rtt` > 0, a measured round trip of controlled traffic, to the smoothed round trip.
  void on_round_trip(Duration rtt);

  /// Returns the rate of the controlled traffic in bytes/s.
  [[nodiscard]] double controlled_rate() const { return controlled_rate_; }
  /// Returns the rate of controlled and cross traffic in bytes/s.
  [[nodiscard]] double total_rate() const { return cross_rate_ + controlled_rate_; }
  /// Returns the smoothed round trip of controlled traffic in s; zero while unknown.
  [[nodiscard]] double srtt() const { return srtt_; }
  /// True if more than a fifth of the bytes to the UE is cross traffic, so cross traffic may have filled the queue.
  [[nodiscard]] bool has_competition() const { return cross_rate_ > 0 && is_competition(); }
  /// Returns the fair share of n = `connections` controlled connections in bytes: 0.9 · n / (n + 1) of all bytes in
  /// flight. All cross traffic counts as one more connection. The factor 0.9 lets the queue shrink if the supposed
  /// cross traffic does not exist. The bytes in flight are the total rate times the round trip, which counts as at most
  /// 0.5 s.
  [[nodiscard]] double fair_share(std::uint32_t connections) const;

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// True if more than a fifth of the bytes to the UE is cross traffic.
  [[nodiscard]] bool is_competition() const;

  double controlled_rate_ = 0;
  double cross_rate_ = 0;
  /// Amount by which one byte raises a mean rate, in 1/s. It is computed once per instant, because all bytes of one
  /// instant have the same weight.
  double byte_weight_ = 0;
  double srtt_ = 0;
};

}  // namespace sluice::control

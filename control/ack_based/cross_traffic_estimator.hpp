#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates which traffic fills a UE's radio queue: its controlled connections, or cross traffic (UDP, QUIC,
/// connections that are not split). The rates are exponential means over 0.5 s, pauses included. State and work are
/// constant. Reads no clock; thread: its owner's.
class CrossTrafficEstimator {
 public:
  /// Adds `ours` acknowledged bytes of controlled traffic and `others` bytes of cross traffic. `since`: time since the
  /// call before, ≥ 0. Several calls at one instant each count in full.
  void on_news(Bytes ours, Bytes others, Duration since);
  /// Adds a round trip of controlled traffic, > 0.
  void on_round_trip(Duration took);

  /// Returns the rate of the controlled traffic in bytes/s.
  [[nodiscard]] double ours() const { return ours_; }
  /// Returns the rate of controlled and cross traffic in bytes/s.
  [[nodiscard]] double all() const { return others_ + ours_; }
  /// Returns the smoothed round trip of controlled traffic in s; zero while unknown.
  [[nodiscard]] double usual_trip() const { return usual_trip_; }
  /// True if more than a fifth of the bytes to the UE is cross traffic, so that the queue may be that of others.
  [[nodiscard]] bool has_competition() const;
  /// Returns the bytes in flight that are fair for `connections` of them: 0.9 · n / (n + 1) of those of all traffic.
  /// All cross traffic counts as one connection. Bytes in flight are the rate times the round trip, of at most 0.5 s.
  [[nodiscard]] double fair_share(std::uint32_t connections) const;

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  double ours_ = 0;
  double others_ = 0;
  double share_ = 0;  ///< what one byte adds to a mean rate, 1/s, since the last time step
  double usual_trip_ = 0;
};

}  // namespace sluice::control

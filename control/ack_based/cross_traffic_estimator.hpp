#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Who fills a UE's radio queue: the connections under its window, and others that are not (UDP, QUIC, connections that
/// are not split). Means of late, pauses and all. State and work are constant. No clock inside; thread: its owner's.
class CrossTrafficEstimator {
 public:
  /// So much of ours was acknowledged, and so much sent by others, `since` the last news (≥ 0). Several
  /// acknowledgements of one moment each count in full.
  void on_news(Bytes ours, Bytes others, Duration since);
  /// A packet of ours took so long there and back, > 0.
  void on_round_trip(Duration took);

  /// Bytes/s of ours, and of all.
  [[nodiscard]] double ours() const { return ours_; }
  [[nodiscard]] double all() const { return others_ + ours_; }
  /// Smoothed, in seconds; zero while unknown.
  [[nodiscard]] double usual_trip() const { return usual_trip_; }
  /// Others send so much to the UE that the queue may be theirs.
  [[nodiscard]] bool has_competition() const;
  /// Of what all have in flight, in bytes, the part of so many connections where everybody else together counts for
  /// one; a tenth less, so that a queue that stands without others shrinks. A longer queue than half a second
  /// counts as half a second.
  [[nodiscard]] double fair_share(std::uint32_t connections) const;

  /// Its state, for a trace (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  double ours_ = 0;
  double others_ = 0;
  double share_ = 0;  ///< what a byte adds to both, 1/s, since the last step of time
  double usual_trip_ = 0;
};

}  // namespace sluice::control

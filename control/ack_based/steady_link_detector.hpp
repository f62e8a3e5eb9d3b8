#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects a steady link: a link whose rate hardly varies while it limits the sender. On such a link the controller
/// aims at a shorter radio queue, because the queue need not cover a rise of the rate. A sender with too few bytes in
/// flight also measures a steady rate. The owner therefore also checks by min_round_trip() that a queue exists. Memory
/// and work per ACK are constant. Reads no clock. Not thread-safe.
class SteadyLinkDetector {
 public:
  /// Adds the mean delivery rate `rate` > 0 of a sample that the link limited. `observed` is the time since the
  /// previous sample, without outages. `is_end_to_end` is true if a server with its own congestion control determines
  /// how fast the rate grows. A rise then counts as a deviation of at most 0.3, that of a new link.
  void on_rate(Instant now, Duration observed, double rate, bool is_end_to_end);
  /// Adds a round trip of `round_trip` seconds, > 0. `observed` is the time since the previous sample, without outages.
  void on_round_trip(Duration observed, double round_trip);
  /// Ignores rates until the time `until`, because until then the sender and not the link determines the rate.
  void ignore_until(Instant until) { ignored_until_ = until; }
  /// Returns how steady the link's rate of the last seconds is: 1 if the rate deviates from its mean by at most 4 %,
  /// and 0 if by 10 % or more.
  [[nodiscard]] double steadiness() const;
  /// Returns the shortest round trip of about the last 0.2 s, in seconds; zero while unknown.
  [[nodiscard]] double min_round_trip() const { return min_round_trip_; }
  /// Discards all samples. Called if the UE may use another link now.
  void forget() { *this = SteadyLinkDetector{}; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Assumed deviation of the rate of a new link from its mean, as a share of the mean. It decays: after 2.2 s without
  /// a greater deviation it is 0.1.
  static constexpr double initial_variation = 0.3;

  double mean_rate_ = 0;  ///< mean of the rates over 0.5 s, bytes/s; zero while unknown
  /// Greatest recent deviation of the rate from its mean, as a share of the mean; it decays with time.
  double variation_ = initial_variation;
  double min_round_trip_ = 0;
  Instant ignored_until_{};
};

}  // namespace sluice::control

#pragma once

#include <functional>

#include "control/windowed_extreme.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// At what rate the radio link of one UE delivers, by its acknowledgements alone. They tell of every byte that has left
/// the radio queue, some time later and often many at once: what comes together is a clump, and no burst of the link.
/// State and work are constant. No clock inside; thread: its owner's.
class DeliveryEstimator {
 public:
  /// `memory` > 0: the time constant of the mean. A silence counts for no longer: in an outage nothing is learned of
  /// the rate that the link has when it returns.
  explicit DeliveryEstimator(Duration memory);

  /// The UE has `newly` more bytes. `lowers`: they tell what the link carries and not only what it was given, so the
  /// mean may fall for them; else it may only rise.
  void on_delivered(Instant now, Bytes newly, bool lowers);
  /// Nothing is under way any more: the time until the next delivery is not the link's.
  void on_idle() { counting_ = false; }
  /// The rate is at least this, as is known otherwise.
  void raise(Instant now, Rate rate);
  /// Nothing is known any more.
  void restart();

  /// Enough was seen to speak of a rate.
  [[nodiscard]] bool known() const { return mean_ > 0; }
  /// The mean rate of late; zero while unknown.
  [[nodiscard]] Rate rate() const { return Rate::bytes_per_second(mean_); }
  /// The highest that it was in the last five to ten seconds.
  [[nodiscard]] Rate peak() const { return peak_.known() ? Rate::bytes_per_second(peak_.value()) : Rate(); }
  /// How much usually comes in one clump; the mean that a byte of it would see.
  [[nodiscard]] Bytes clump() const { return Bytes(clump_); }
  /// The same of what comes by one acknowledgement.
  [[nodiscard]] Bytes stretch() const { return Bytes(stretch_); }
  /// The time from one clump to the next, a mean over clumps; stand-stills are not in it. Zero while unknown.
  [[nodiscard]] Duration gap() const { return from_seconds(gap_); }
  /// … a mean over time: how long the gap is that a moment lies in. Where the link sends for a while and rests for a
  /// while, about a rest.
  [[nodiscard]] Duration rest() const { return from_seconds(rest_); }
  /// Most of the time lies in gaps that are longer than most. On a link that goes on all gaps are alike, as long as a
  /// packet takes, or a transmission interval.
  [[nodiscard]] bool has_rests() const;

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  void note_clump(Instant now, double bytes);
  void note_gap(Duration gap);
  /// What a byte sees, a mean: `bytes` count by themselves, against what comes in the memory.
  void follow(double& mean, double bytes) const;
  void measure(Instant now, double bytes);
  [[nodiscard]] double recent() const;

  Duration memory_;
  Instant last_{};
  Instant clump_began_{};
  double gathered_ = 0;  ///< bytes of the clump in the making
  double clump_ = 0;
  double stretch_ = 0;
  double gap_ = 0;        ///< between clumps, a mean over them, s
  double rest_ = 0;       ///< … over time, s
  double share_ = 0;      ///< what a byte adds to the mean, 1/s, since the last step of time
  double delivered_ = 0;  ///< mean of what was delivered, bytes/s, times weight_
  double weight_ = 0;     ///< of the past that is in it, towards 1
  double mean_ = 0;       ///< bytes/s
  double floor_ = 0;      ///< below which it does not fall while what comes does not lower it; zero: it may
  WindowedExtreme<double, std::greater<>> peak_;
  bool counting_ = false;     ///< deliveries since clump_began_ follow one another
  bool first_clump_ = false;  ///< since a pause
};

}  // namespace sluice::control

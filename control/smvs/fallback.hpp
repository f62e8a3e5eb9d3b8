#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Names the input that determines how much the proxy sends towards a UE.
enum class ControlSource : std::uint8_t {
  congestion_control,  ///< sending follows ordinary congestion control: no report yet, reports late, or the radio link
                       ///< released
  feedback             ///< sending follows the allowance of the report-based controller
};

/// Parameters of the fallback from Node-B reports to congestion control: when reports count as missing, and the
/// congestion window after that.
struct FallbackParameters {
  std::uint32_t periods = 5;  ///< Number of report periods after which the next report counts as late, ≥ 1.

  /// Shortest time without a report that counts as missing reports. With a Ts of 2 ms, scheduling jitter alone would
  /// otherwise cause a fallback.
  Duration minimum = std::chrono::milliseconds(20);
  /// Longest time without a report until reports count as missing. The report itself claims its period. Without this
  /// bound a report that claims a period of one day would control sending for a day. The default is two usual report
  /// periods of base stations (1 s each).
  Duration maximum = std::chrono::seconds(2);
  Bytes segment{1448};                  ///< segment size from which the congestion window after a fallback is computed
  std::uint32_t initial_segments = 10;  ///< smallest congestion window after a fallback, in segments (RFC 6928)
};

/// Decides for one bearer whether the Node-B's reports control its sending. Pure state machine: time is an argument.
class Fallback {
 public:
  explicit Fallback(FallbackParameters parameters = {}) : parameters_(parameters) {}

  /// Records an authenticated report received at `now`. `period` is the report period Ts that it claims; `rate` is its
  /// mean service rate b̄, for seed_window(). A report that the UE's radio link is released ends control by reports at
  /// once. Returns what limits sending now: reports or congestion control.
  ControlSource on_report(Instant now, Duration period, feedback::RadioState state, Rate rate);
  /// Extends the validity of the last report, received at `reported`, to the time `holds`. The Node-B omits a UE from
  /// its reports while nothing changes. The validity ends FallbackParameters::maximum after the report at the latest.
  void on_omitted(Instant reported, Instant holds, Duration period);
  /// Falls back to congestion control if deadline() has passed. Returns the source that controls sending now.
  ControlSource check(Instant now);

  /// Replaces the parameters from now on.
  void set_parameters(const FallbackParameters& parameters) { parameters_ = parameters; }

  [[nodiscard]] ControlSource source() const { return source_; }
  /// Returns the time at which check() falls back if no report arrives; `never` if it already has.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// Returns how often sending fell back from reports to congestion control.
  [[nodiscard]] std::uint64_t falls() const { return falls_; }
  /// Returns the congestion window to start with after a fallback: last rate × smoothed round trip, at least the
  /// initial window. A rate of zero (an outage) gives the initial window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;
  /// Stores `rate`, for a later call of seed_window() while no report controls the bearer.
  void remember(Rate rate) { rate_ = rate; }

 private:
  void fall();
  [[nodiscard]] Duration patience(Duration period) const;

  FallbackParameters parameters_;
  ControlSource source_ = ControlSource::congestion_control;
  Instant deadline_ = never;
  Rate rate_;
  std::uint64_t falls_ = 0;
};

}  // namespace sluice::control

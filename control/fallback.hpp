#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Input that determines how much a bearer sends.
enum class ControlSource : std::uint8_t {
  congestion_control,  ///< ordinary congestion control: no feedback yet, feedback late, or the radio link released
  feedback             ///< allowance of the report-based controller
};

/// Timeouts and the seeded window of the fallback from feedback to congestion control.
struct FallbackParameters {
  std::uint32_t periods = 5;  ///< report periods after which reports are late, ≥ 1
  /// Shortest timeout, because a Ts of 2 ms must not turn scheduling jitter into a fallback.
  Duration minimum = std::chrono::milliseconds(20);
  /// Longest timeout. The period in a report is the reporter's claim, and a report with a period of a day would
  /// otherwise steer for that day.
  /// The default is two of the usual report periods of base stations (1 s).
  Duration maximum = std::chrono::seconds(2);
  Bytes segment{1448};                  ///< segment size for the bounds of the seeded window
  std::uint32_t initial_segments = 10;  ///< smallest seeded window in segments (RFC 6928)
};

/// Decides for one bearer whether feedback steers it. A pure state machine: time is an argument.
class Fallback {
 public:
  explicit Fallback(FallbackParameters parameters = {}) : parameters_(parameters) {}

  /// Records an authenticated report. `period` is its advertised Ts; `rate` is the mean service rate b̄, for
  /// seed_window(). A report of a released bearer ends the steering at once.
  ControlSource on_report(Instant now, Duration period, feedback::RadioState state, Rate rate);
  /// Extends the last report, received at `reported` with this `period`: the reporter left the UE out, so it still
  /// holds at `holds`.
  /// The extension ends `maximum` after the report itself.
  void on_omitted(Instant reported, Instant holds, Duration period);
  /// Falls back to congestion control if the deadline has passed. Call it at deadline() or at any later time.
  ControlSource check(Instant now);

  /// Replaces the parameters from now on.
  void set_parameters(const FallbackParameters& parameters) { parameters_ = parameters; }

  [[nodiscard]] ControlSource source() const { return source_; }
  /// Returns the time at which check() falls back if no report arrives; never if it already has.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// Returns how often control fell back from feedback to congestion control.
  [[nodiscard]] std::uint64_t falls() const { return falls_; }
  /// Returns the congestion window after a fallback: last rate × smoothed round trip, at least the initial window. A
  /// rate of zero (an outage) gives the initial window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;
  /// Sets the rate for seed_window() if no report steers the bearer.
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

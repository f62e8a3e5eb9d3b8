#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Names the input that determines how much the proxy sends towards a UE.
enum class ControlSource : std::uint8_t {
  /// Congestion control of TCP limits sending, because no report has been received yet, reports are late, or the radio
  /// link is released.
  congestion_control,
  /// the report-based controller limits sending: it computes the number of bytes to send until the next report
  feedback
};

/// Parameters of the fallback from Node-B reports to congestion control: when reports count as missing, and with which
/// congestion window sending then continues.
struct FallbackParameters {
  std::uint32_t periods = 5;  ///< Number of report periods without a report after which reports count as missing, ≥ 1.

  /// Shortest time without a report after which reports count as missing. With a report period of 2 ms, scheduling
  /// jitter alone would otherwise cause a fallback.
  Duration minimum = std::chrono::milliseconds(20);
  /// Longest time without a report after which reports count as missing. Each report states its own period. Without
  /// this bound a report that states a period of one day would control sending for days. The default is two usual
  /// report periods of base stations (1 s each).
  Duration maximum = std::chrono::seconds(2);
  Bytes segment{1448};                  ///< segment size from which the congestion window after a fallback is computed
  std::uint32_t initial_segments = 10;  ///< smallest congestion window after a fallback, in segments (RFC 6928)
};

/// Decides for one UE whether the Node-B's reports or congestion control limit the sending. Reads no clock: time is an
/// argument.
class Fallback {
 public:
  explicit Fallback(FallbackParameters parameters = {}) : parameters_(parameters) {}

  /// Records an authenticated report received at `now`. `period` is the time until the next report, as the report
  /// announces it. `rate` is the mean service rate in the report, for seed_window(). If `state` is `released`, the UE
  /// has no radio link, and control by reports ends at once. Returns what limits sending now: reports or congestion
  /// control.
  ControlSource on_report(Instant now, Duration period, feedback::RadioState state, Rate rate);
  /// Extends the validity of the last report, because the Node-B omits a UE from its reports while the UE's state does
  /// not change. `reported` is the time at which that report was received, and `holds` the latest time at which it
  /// still applied. `period` is the time until the next report that the Node-B announces. The validity ends
  /// FallbackParameters::maximum after the last report at the latest.
  void on_omitted(Instant reported, Instant holds, Duration period);
  /// Falls back to congestion control if deadline() has passed without a report. Returns what limits sending now:
  /// reports or congestion control.
  ControlSource check(Instant now);

  /// Replaces the parameters from now on.
  void set_parameters(const FallbackParameters& parameters) { parameters_ = parameters; }

  [[nodiscard]] ControlSource source() const { return source_; }
  /// Returns the time at which check() falls back if no report arrives; `never` if it already has.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// Returns how often sending fell back from reports to congestion control.
  [[nodiscard]] std::uint64_t falls() const { return falls_; }
  /// Returns the congestion window with which sending continues after a fallback: last reported rate × `srtt`, at least
  /// the initial window. `srtt` is a round trip to the UE; the proxy passes the shortest one of the radio leg. After a
  /// rate of zero (an outage) it is the initial window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;
  /// Stores a measured rate of the radio link for seed_window(), while no report controls the UE.
  void remember(Rate rate) { rate_ = rate; }

 private:
  void fall();
  [[nodiscard]] Duration report_timeout(Duration period) const;

  FallbackParameters parameters_;
  ControlSource source_ = ControlSource::congestion_control;
  Instant deadline_ = never;
  Rate rate_;
  std::uint64_t falls_ = 0;
};

}  // namespace sluice::control

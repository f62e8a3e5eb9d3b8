#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Who decides how much a bearer sends.
enum class ControlSource : std::uint8_t {
  congestion_control,  ///< ordinary congestion control: no feedback yet, feedback late, or the radio link released
  feedback             ///< the control law's allowance
};

struct FallbackParameters {
  std::uint32_t periods = 5;  ///< reports are late after this many advertised periods without one, ≥ 1
  /// … but never sooner than this: a Ts of 2 ms must not turn scheduling jitter into a fallback.
  Duration minimum = std::chrono::milliseconds(20);
  /// … and never later: what a report announces is the reporter's word, and one report of a day's period would steer
  /// for that day. Two of the periods that base stations report at by default (1 s).
  Duration maximum = std::chrono::seconds(2);
  Bytes segment{1448};                  ///< for the seeded window's bounds
  std::uint32_t initial_segments = 10;  ///< the least the seeded window holds (RFC 6928)
};

/// Decides, for one bearer, whether feedback steers it. A pure state machine: time comes in as an argument.
class Fallback {
 public:
  explicit Fallback(FallbackParameters parameters = {}) : parameters_(parameters) {}

  /// A report arrived, already authenticated. `period` is the advertised Ts, `rate` the service rate that congestion
  /// control would be seeded with (b̄). A report of a released bearer ends the steering at once.
  ControlSource on_report(Instant now, Duration period, feedback::RadioState state, Rate rate);
  /// The last report, which came at `reported` with this period, is taken to hold still at `holds`: the reporter leaves
  /// the UE out. It counts for no longer than the longest silence that is borne.
  void on_left_out(Instant reported, Instant holds, Duration period);
  /// Looks at the time. Call it at deadline() or whenever convenient.
  ControlSource check(Instant now);

  /// Other parameters from now on.
  void set_parameters(const FallbackParameters& parameters) { parameters_ = parameters; }

  [[nodiscard]] ControlSource source() const { return source_; }
  /// When check() will turn to congestion control if no report comes; never when it is there already.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// How often steering went from feedback to congestion control.
  [[nodiscard]] std::uint64_t falls() const { return falls_; }
  /// The congestion window to start from on a fall: last measured rate × smoothed round trip, at least the initial
  /// window. A rate of zero (an outage) gives the initial window.
  [[nodiscard]] Bytes seed_window(Duration srtt) const;
  /// What seed_window() goes by where no report steers.
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

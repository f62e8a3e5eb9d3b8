// CLAMP's window agent of one flow (Andrew, Hanly & Mukhtar, TMC 2008, sections 4.2 and 4.3, eqs. 14 to 17).
// ClampController calls on_data() for each acknowledged packet. Invariant: after slow start began the window is at
// least two segments, since with less a flow may stop and never get another window.

#include "control/window_laws/clamp_window.hpp"

#include <algorithm>
#include <cmath>

#include "control/rule_checker.hpp"

namespace sluice::control {
namespace {

/// Largest ν, the number of packets over which a flow's rate is measured. No link is fast enough to need more.
constexpr std::size_t max_rate_packets = 65'536;
constexpr double min_round_trip_s = 0.001;
/// Smallest window in segments. A receiver may delay the ACK of a single segment (RFC 9293 section 3.8.6.3). With a
/// smaller window a flow may therefore stop sending, get no ACKs, and keep its closed window.
constexpr int fewest_segments = 2;

double min_window(const ClampWindowParameters& parameters) {
  return static_cast<double>((parameters.segment * fewest_segments).count());
}

}  // namespace

std::vector<Violation> validate(const ClampWindowParameters& p) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.gain, p.gain > Bytes(0), Severity::error, "τ > 0", print("τ = ", p.gain.count(), " B"));
  check.require(p.smoothing, p.smoothing > 0 && p.smoothing < 1, Severity::error, "0 < β < 1",
                print("β = ", p.smoothing));
  check.require(p.rate_packets, p.rate_packets >= 1 && p.rate_packets <= max_rate_packets, Severity::error,
                "1 ≤ ν ≤ 65536", print("ν = ", p.rate_packets, " packets"));
  check.require(p.largest_increase, p.largest_increase > Bytes(0), Severity::error, "largest increase > 0",
                print("largest increase = ", p.largest_increase.count(), " B"));
  check.require(p.segment, p.segment > Bytes(0), Severity::error, "segment > 0",
                print("segment = ", p.segment.count(), " B"));
  check.require(p.largest, p.largest >= p.segment * fewest_segments, Severity::error, "largest ≥ 2 segments",
                print("largest window ", p.largest.count(), " B, segment ", p.segment.count(), " B"));
  return check.take();
}

ClampWindow::ClampWindow(const ClampWindowParameters& parameters, Duration first_round_trip)
    : parameters_(parameters),
      per_group_(static_cast<std::uint16_t>((parameters.rate_packets + groups) / groups)),
      round_trip_s_(std::max(to_seconds(first_round_trip), min_round_trip_s)) {
  refuse_errors(validate(parameters));
  state_.window = static_cast<double>(parameters_.segment.count());
  state_.round_trip = from_seconds(round_trip_s_);
}

Bytes ClampWindow::on_data(Instant now, Bytes size, Duration price, Bytes offered, bool limited) {
  const auto bytes = static_cast<double>(std::max(size, Bytes(0)).count());
  const double elapsed_s = used_ > 0 ? std::max(0.0, to_seconds(now - last_)) : 0;
  measure(now, bytes);
  // Equation 14.
  const double error = static_cast<double>(parameters_.gain.count()) - to_seconds(price) * rate_;
  const double change = error / round_trip_s_ * elapsed_s;
  advance(bytes, change, limited);
  const double advertised = std::min(std::floor(state_.window), static_cast<double>(offered.count()));
  if (rate_ > 0) {  // equation 16
    round_trip_s_ += parameters_.smoothing * (advertised / rate_ - round_trip_s_);
    round_trip_s_ = std::max(round_trip_s_, min_round_trip_s);
  }
  state_.rate = Rate::bytes_per_second(rate_);
  state_.round_trip = from_seconds(round_trip_s_);
  return Bytes(std::max(0.0, advertised));
}

void ClampWindow::on_loss() {
  if (state_.slow_start) end_slow_start();
}

void ClampWindow::seed(Bytes window) {
  state_.slow_start = false;
  state_.window = std::clamp(static_cast<double>(window.count()), min_window(parameters_),
                             static_cast<double>(parameters_.largest.count()));
}

/// Adds a packet of `size` bytes to μ̂, the measured rate of the flow, by eq. 15 of the CLAMP paper (Andrew, Hanly &
/// Mukhtar, TMC 2008).
void ClampWindow::measure(Instant now, double size) {
  if (used_ == 0 || in_newest_ == per_group_) {
    if (used_ > 0) newest_ = static_cast<std::uint8_t>((newest_ + 1) % groups);
    if (used_ == std::min(groups, parameters_.rate_packets + 1)) {
      sum_ -= sizes_[(newest_ + groups - used_) % groups];
    } else {
      ++used_;
    }
    firsts_[newest_] = now;
    sizes_[newest_] = 0;
    in_newest_ = 0;
  }
  ++in_newest_;
  const std::uint32_t room = UINT32_MAX - sizes_[newest_];
  const std::uint32_t counted = size < room ? static_cast<std::uint32_t>(size) : room;
  sizes_[newest_] += counted;
  sum_ += counted;
  last_ = now;
  const double span_s = to_seconds(now - firsts_[(newest_ + groups + 1 - used_) % groups]);
  if (span_s > 0) rate_ = sum_ / span_s;
}

void ClampWindow::advance(double size, double change, bool limited) {
  state_.change = std::clamp(change, -size, static_cast<double>(parameters_.largest_increase.count()));
  const auto segment = static_cast<double>(parameters_.segment.count());
  const auto largest = static_cast<double>(parameters_.largest.count());
  if (state_.slow_start && change < 0) {
    end_slow_start();
    return;
  }
  const double step = state_.slow_start ? segment : state_.change;
  state_.window = std::clamp(state_.window + (limited ? step : std::min(step, 0.0)), min_window(parameters_), largest);
  if (state_.window >= largest) state_.slow_start = false;
}

/// Ends slow start and halves the window. The queue measured now was caused by the window of one round trip ago, which
/// was half as large.
void ClampWindow::end_slow_start() {
  state_.slow_start = false;
  state_.window = std::max(state_.window / 2, min_window(parameters_));
}

}  // namespace sluice::control

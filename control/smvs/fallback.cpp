#include "control/smvs/fallback.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr std::uint32_t max_periods = 1000;

}  // namespace

ControlSource Fallback::on_report(Instant now, Duration period, feedback::RadioState state, Rate rate) {
  if (state == feedback::RadioState::released) {
    fall();
    return source_;
  }
  rate_ = rate;
  source_ = ControlSource::feedback;
  deadline_ = now + report_timeout(period);
  return source_;
}

/// Returns the time without a report after which reports count as missing: several report periods, within bounds.
/// `period` is the time until the next report that the last report announces.
Duration Fallback::report_timeout(Duration period) const {
  const Duration step = std::clamp(period, Duration::zero(), std::max(parameters_.maximum, Duration::zero()));
  const auto periods = static_cast<std::int64_t>(std::clamp(parameters_.periods, 1U, max_periods));
  return std::max({std::min(step * periods, parameters_.maximum), parameters_.minimum, Duration(1)});
}

void Fallback::on_omitted(Instant reported, Instant holds, Duration period) {
  if (source_ != ControlSource::feedback) return;
  deadline_ = std::min(std::max(reported, holds) + report_timeout(period), reported + parameters_.maximum);
}

ControlSource Fallback::check(Instant now) {
  if (now >= deadline_) fall();
  return source_;
}

Bytes Fallback::seed_window(Duration srtt) const {
  const Bytes least = parameters_.segment * parameters_.initial_segments;
  return std::max(least, rate_.in(std::max(srtt, Duration::zero())));
}

void Fallback::fall() {
  if (source_ == ControlSource::feedback) ++falls_;
  source_ = ControlSource::congestion_control;
  deadline_ = never;
}

}  // namespace sluice::control

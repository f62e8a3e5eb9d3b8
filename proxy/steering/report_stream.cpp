#include "proxy/steering/report_stream.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// One late report is no silence.
constexpr Duration least_silence = std::chrono::milliseconds(20);

}  // namespace

void ReportStream::inherit(const ReportStream& before) {
  last_ = before.last_;
  last_at_ = before.last_at_;
  heard_at_ = before.heard_at_;
  any_ = before.any_;
}

bool ReportStream::accepts(const ReportArrival& report, Instant now) const {
  if (!changes_reporter(report)) return true;
  using control::feedback::RadioState;
  const Duration silence = std::max(std::min(2 * last_.period, longest_silence_), least_silence);
  return report.bearer.state == RadioState::normal &&
         (last_.bearer.state != RadioState::normal || now - heard_at_ >= silence);
}

void ReportStream::note(const ReportArrival& report, Instant now) {
  last_ = report;
  last_.period = std::min(report.period, longest_silence_);
  last_at_ = heard_at_ = now;
  any_ = true;
}

}  // namespace sluice::proxy

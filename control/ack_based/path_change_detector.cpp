#include "control/ack_based/path_change_detector.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr std::uint32_t enough_reports = 3;

}  // namespace

std::optional<Duration> PathChangeDetector::on_report(Instant now, Duration unexplained, Duration long_enough) {
  if (reports_++ == 0) {
    since_ = now;
    min_unexplained_ = unexplained;
  }
  // The minimum, with slow growth, because the mean round trip may still have been rising at the first reports.
  min_unexplained_ = std::min(unexplained, min_unexplained_ + (unexplained - min_unexplained_) / 8);
  if (reports_ < enough_reports || now - since_ < long_enough) return std::nullopt;
  reports_ = 0;
  return min_unexplained_;
}

}  // namespace sluice::control

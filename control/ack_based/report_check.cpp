// Comparison of a Node-B's reports with the UE's ACKs. AckController calls on_acknowledged() for each ACK and
// on_report() for each report. Invariant: `transmitted_` and `acknowledged_` count the same intervals between reports.
#include "control/ack_based/report_check.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

constexpr Duration period = std::chrono::seconds(2);
/// Number of successive periods of two seconds that must contradict the ACKs before a Node-B's reports are distrusted.
constexpr std::uint8_t contradicted_periods = 2;
/// Number of successive periods of two seconds without contradiction after which distrusted reports are trusted again.
constexpr std::uint8_t agreeing_periods = 5;

/// Smallest number of bytes acknowledged in a period of two seconds for which the period is compared with the Node-B's
/// reports.
constexpr std::uint64_t min_acknowledged = 15'000;
/// Smallest plausible ratio of two numbers of bytes in one period of two seconds: those that a Node-B reports as
/// transmitted, and those that the UE acknowledges. It is below 1, because some acknowledged bytes may have been
/// transmitted before the period.
constexpr double min_share = 0.75;

/// True if a Node-B's report contradicts an ACK: `queued_for`, the time in which the link transmits the reported queue,
/// is much longer than the measured round trip. The comparison has a margin, because rates change, and because report
/// and ACK describe different instants.
bool is_implausible(Duration queued_for, Duration round_trip) {
  return queued_for > 2 * round_trip + std::chrono::milliseconds(100);
}

}  // namespace

void ReportCheck::on_acknowledged(Bytes delivered, Duration round_trip) {
  newly_acknowledged_ += static_cast<std::uint64_t>(greater(delivered, Bytes{}).count());
  max_rtt_ = greater(max_rtt_, round_trip);
}

void ReportCheck::on_report(Instant now, std::uint64_t transmitted, Duration queued_for) {
  if (max_rtt_ > Duration::zero()) {
    ++reports_;
    if (is_implausible(queued_for, max_rtt_)) ++implausible_;
    max_rtt_ = Duration::zero();
  }
  add_interval(transmitted);
  if (began_) {
    if (now - period_began_ < period) return;
    end_period();
  }
  began_ = true;
  period_began_ = now;
  transmitted_ = acknowledged_ = 0;
  reports_ = implausible_ = 0;
}

void ReportCheck::add_interval(std::uint64_t transmitted) {
  if (transmitted >= last_transmitted_) {
    transmitted_ += transmitted - last_transmitted_;
    acknowledged_ += newly_acknowledged_;
  }
  last_transmitted_ = transmitted;
  newly_acknowledged_ = 0;
}

std::optional<bool> ReportCheck::contradicts() const {
  if (reports_ > 0 && implausible_ == reports_) return true;
  if (acknowledged_ < min_acknowledged) return std::nullopt;
  return static_cast<double>(transmitted_) < min_share * static_cast<double>(acknowledged_);
}

void ReportCheck::end_period() {
  const std::optional<bool> contradicted = contradicts();
  if (!contradicted) return;
  if (*contradicted) {
    agreeing_ = 0;
    if (contradicted_ < contradicted_periods) ++contradicted_;
    if (contradicted_ == contradicted_periods) trusted_ = false;
    return;
  }
  contradicted_ = 0;
  if (trusted_) return;
  if (++agreeing_ < agreeing_periods) return;
  agreeing_ = 0;
  trusted_ = true;
}

}  // namespace sluice::control

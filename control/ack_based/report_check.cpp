#include "control/ack_based/report_check.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr Duration period = std::chrono::seconds(2);
/// Numbers of periods in a row after which reports are distrusted, and trusted again.
constexpr std::uint8_t wrong_periods = 2;
constexpr std::uint8_t right_periods = 5;

/// Smallest number of acknowledged bytes in a period for a judgement.
constexpr std::uint64_t min_acknowledged = 15'000;
/// Share of the acknowledged bytes that must be reported, because some may have been transmitted before the period.
constexpr double min_share = 0.75;

/// True if the queue is longer than the round trip by a wide margin. Rates change, and reports describe another
/// instant.
bool longer_than(Duration queued_for, Duration round_trip) {
  return queued_for > 2 * round_trip + std::chrono::milliseconds(100);
}

}  // namespace

void ReportCheck::on_acknowledged(Bytes delivered, Duration round_trip) {
  acknowledged_ += static_cast<std::uint64_t>(std::max<std::int64_t>(delivered.count(), 0));
  longest_trip_ = std::max(longest_trip_, round_trip);
}

void ReportCheck::on_report(Instant now, std::uint64_t transmitted, Duration queued_for) {
  if (longest_trip_ > Duration::zero()) {
    ++reports_;
    if (longer_than(queued_for, longest_trip_)) ++impossible_;
    longest_trip_ = Duration::zero();
  }
  if (!began_ || transmitted < transmitted_before_) {
    began_ = true;
  } else if (now - period_began_ < period) {
    return;
  } else {
    judge(transmitted);
  }
  period_began_ = now;
  transmitted_before_ = transmitted;
  acknowledged_ = 0;
  reports_ = impossible_ = 0;
}

std::optional<bool> ReportCheck::contradicts(std::uint64_t transmitted) const {
  if (reports_ > 0 && impossible_ == reports_) return true;
  if (acknowledged_ < min_acknowledged) return std::nullopt;
  const auto told = static_cast<double>(transmitted - transmitted_before_);
  return told < min_share * static_cast<double>(acknowledged_);
}

void ReportCheck::judge(std::uint64_t transmitted) {
  const std::optional<bool> wrong = contradicts(transmitted);
  if (!wrong) return;
  if (*wrong) {
    right_ = 0;
    if (wrong_ < wrong_periods) ++wrong_;
    if (wrong_ == wrong_periods) trusted_ = false;
    return;
  }
  wrong_ = 0;
  if (trusted_) return;
  if (++right_ < right_periods) return;
  right_ = 0;
  trusted_ = true;
}

}  // namespace sluice::control

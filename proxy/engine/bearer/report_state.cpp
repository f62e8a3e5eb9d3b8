#include "proxy/engine/bearer/report_state.hpp"

#include <algorithm>

namespace sluice::proxy {

/// Replaces a missing Node-B report: grants the bytes that the link carries in one period at the mean rate. A
/// controller step would grant about as much. The next report corrects the error, because it accounts for the bytes
/// sent meanwhile. `waits` is true if there is data to send.
void ReportState::extrapolate_missing_report(Rate mean_rate, bool waits) {
  const ReportArrival& last = reports.last();
  extrapolator.extrapolate(last.period);
  const bool served = last.bearer.state == control::feedback::RadioState::normal;
  grant.give(served ? mean_rate.in(last.period) : Bytes{}, waits);
}

bool ReportState::spend(Bytes bytes, Instant now) {
  grant.spend(bytes);
  if (!extrapolator.is_suspended()) [[likely]]
    return false;
  // The missing-report timer restarts, because the Node-B has to report on the bytes sent now.
  const Duration period = reports.last().period;
  extrapolator.expect(now + period + period / 2);
  return true;
}

void ReportState::on_omitted(const SuppressingNodeB& sender, bool idle) {
  if (!trusted) return;
  const ReportArrival& last = reports.last();
  if (sender.covers(last)) reports.record_omitted(std::min(sender.last_rx(), sender.valid_until(last)));
  if (idle && sender.has_sent(last)) return suspend(sender);
  fallback.on_omitted(reports.last_at(), reports.omission_rx(), last.period);
}

void ReportState::suspend(const SuppressingNodeB& sender) {
  if (!sender.has_sent(reports.last())) return;
  const Instant its_turn = reports.last_at() + sender.refresh();
  const Instant holds = std::max(reports.omission_rx(), std::min(its_turn, sender.valid_until(reports.last())));
  fallback.on_omitted(reports.last_at(), holds, reports.last().period);
  extrapolator.suspend();
}

void ReportState::on_reported_again(const SuppressingNodeB& sender, const ReportArrival& next) {
  if (reports.is_stale(next)) return;
  const ReportArrival& last = reports.last();
  const Duration until = sender.omitted_before(next.sender_time);
  if (last.sender != next.sender || last.epoch != next.epoch || !sender.confirms(last)) return;
  if (until > last.sender_time && until < next.sender_time) law.on_omitted(last, until);
}

}  // namespace sluice::proxy

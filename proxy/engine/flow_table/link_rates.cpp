// Long-term rates of the UEs' radio links, for advice to QUIC senders (SCONE). Registry samples active bearers, and
// ReportDispatcher passes reports. SconeAdvisor reads the rates. Invariant: only times in which the link is the
// bottleneck count, because otherwise the rate is that of the sources.
#include "proxy/engine/flow_table/link_rates.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

using control::LongTermRate;

/// True if the UE's link is the bottleneck now: data waits for the window, which follows the link's rate. In mode
/// observe the window limits nothing. The queue in the radio link is then the evidence.
bool is_bottleneck(const Bearer& bearer, const AckController& controller) {
  const control::DelayBasedController& law = controller.law();
  if (law.in_slow_start() || controller.flight() <= Bytes{}) return false;
  if (bearer.settings().observes()) return law.queued(controller.flight()) >= law.reference();
  return controller.waiting() + controller.end_to_end.waiting + controller.cross_traffic_flows > 0;
}

}  // namespace

void LinkRates::sample(const Bearer& bearer, Instant now) {
  const RateControlMode& mode = bearer.rate_control();
  if (!mode.uses_ack_feedback() || mode.has_timely_reports()) return;
  LongTermRate& rate = rates_[bearer.id];
  if (now - rate.newest_at() < min_interval) return;
  any_ = true;
  const AckController& controller = bearer.ack_controller();
  const auto flight = static_cast<std::uint64_t>(std::max(controller.flight().count(), std::int64_t{0}));
  const std::uint64_t sent = bearer.sent().total();
  rate.add({.now = now,
            .origin = LongTermRate::Origin::acks,
            .delivered = sent - std::min(flight, sent),
            .is_bottleneck = is_bottleneck(bearer, controller),
            .lag = controller.law().srtt()});
}

void LinkRates::before_report(const Bearer& bearer, const ReportArrival& report) {
  if (!bearer.reports().is_same_run(report)) rates_[bearer.id].restart();
}

void LinkRates::on_report(const Bearer& bearer, const ReportArrival& report, Instant now) {
  using control::feedback::RadioState;
  any_ = true;
  const RadioState state = report.bearer.state;
  const bool serves = state == RadioState::normal || state == RadioState::outage;
  rates_[bearer.id].add({.now = now,
                         .origin = LongTermRate::Origin::reports,
                         .delivered = report.bearer.transmitted,
                         .is_bottleneck = serves && report.bearer.queue > Bytes{}});
}

Rate LinkRates::rate(const Bearer& bearer, Instant now) const {
  const LongTermRate* best = &rates_[bearer.id];
  bearer.for_each_sibling([&](const Bearer& other) {
    const LongTermRate& candidate = rates_[other.id];
    if (candidate.observed(now) > best->observed(now)) best = &candidate;
  });
  return best->rate(now);
}

void LinkRates::inherit(const Bearer& bearer, const Bearer& before) {
  if (!any_) return;
  rates_[bearer.id] = rates_[before.id];
  rates_[bearer.id].restart();
}

void LinkRates::forget(const Bearer& bearer) {
  if (any_) rates_[bearer.id] = {};
}

}  // namespace sluice::proxy

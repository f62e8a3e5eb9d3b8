#include "proxy/steering/bearer.hpp"

#include <algorithm>

#include "control/reference.hpp"
#include "dataplane/flow/prefetch.hpp"

namespace sluice::proxy {

Bearer::Bearer(const Treatment& treatment, const IpAddress& ue, bool ordinary)
    : treatment_(&treatment),
      ue_(ue),
      ordinary_(ordinary),
      counts_(!ordinary && needs_feedback(treatment.mode)),
      needs_reports_(treatment.needs_reports()),
      reports_(treatment.smvs.fallback.maximum),
      queue_(treatment),
      fallback_(treatment.smvs.fallback),
      in_flight_(treatment.smvs.parameters.one_way_delay * 2),
      law_(treatment, &trace) {
  if (!ordinary && treatment.listens()) clock_.emplace(treatment.smvs.acks, &trace);
  settle_windowed();
}

void Bearer::inherit(const Bearer& before, Instant now) {
  const SmvsMode& smvs = treatment_->smvs;
  const bool same_path = before.treatment_->smvs.parameters.one_way_delay == smvs.parameters.one_way_delay;
  if (same_path) in_flight_ = before.in_flight_;
  queue_.inherit(before.queue_, same_path);
  framing = before.framing;
  used = used || before.used;
  if (!before.reports_.any()) return;
  reports_.inherit(before.reports_);
  law_.inherit(before.law_);
  step_watch = before.step_watch;
  law_.seed(before.mean_rate());
  if (clock_) clock_->seed(now, before.mean_rate());
  if (!steerable()) {
    fallback_.remember(before.mean_rate());
    return;
  }
  const ReportArrival& last = reports_.last();
  if (before.steerable()) {
    fallback_ = before.fallback_;
    fallback_.set_parameters(smvs.fallback);
  } else {
    fallback_.on_report(reports_.last_at(), last.period, last.bearer.state, before.mean_rate());
    fallback_.check(now);
  }
  const Bytes under_way = in_flight_.on_report(now, last.bearer.arrived);
  queue_.on_report(last.bearer, in_flight_.total(), under_way, now);
  bridge_.expect(needs_reports_ ? now + last.period : never);
  grant_.give(mean_rate().in(last.period), load.backlog > Bytes{});
  settle_windowed();
}

void Bearer::settle_ring() {
  bool any = steerable();
  for (const Bearer* other = &sibling(); other != this; other = &other->sibling()) any = any || other->steerable();
  counts_ = any;
  for (Bearer* other = &sibling(); other != this; other = &other->sibling()) other->counts_ = any;
}

Bearer::Verdict Bearer::on_report(const ReportArrival& report, Instant now, double share) {
  if (reports_.is_stale(report)) return Verdict::stale;
  if (reports_.changes_reporter(report)) {
    // The UE is with another Node-B: its counters, its clock and its queue are others. What is known of the rate stays
    // until it is known better.
    in_flight_.restart();
    law_.restart();
    queue_.restart(report.bearer.dropped);
    bridge_.restart();
    if (clock_) clock_->change_reporter();
  }
  const bool trusted = !clock_ || clock_->on_report(now, report.bearer);
  const Bytes in_flight = in_flight_.on_report(now, report.bearer.arrived);
  // Bridges stood in for reports that were lost or only late. What was granted for a late one is part of what it
  // grants.
  const auto late = static_cast<std::int64_t>(bridge_.take_late(reports_.lost_before(report)));
  const Bytes in_advance = mean_rate().in(reports_.last().period) * late;
  reports_.note(report, now);
  const Duration period = reports_.last().period;
  if (!trusted) return Verdict::distrusted;  // who goes by reports finds that none came
  if (!steerable()) return Verdict::applied;
  if (treatment_->law() == Mode::smvs) {
    grant_by(report, in_flight, in_advance, share);
  } else {
    queue_.on_report(report.bearer, in_flight_.total(), in_flight, now);
  }
  fallback_.on_report(now, period, report.bearer.state, mean_rate());
  settle_lead();
  bridge_.expect(led_by_reports() ? now + period + period / 2 : never);
  settle_windowed();
  return Verdict::applied;
}

void Bearer::prefetch() const {
  flow::prefetch_all(id);
  flow::prefetch_all(load);
  flow::prefetch_all(observed);
  flow::prefetch_all(treatment_);
  flow::prefetch_all(reports_);
  flow::prefetch_all(fallback_);
  flow::prefetch_all(grant_);
  flow::prefetch_all(bridge_);
  in_flight_.prefetch();
}

void Bearer::prefetch_law() const {
  if (treatment_->law() != Mode::smvs) flow::prefetch_all(queue_);
  if (clock_) flow::prefetch_all(*clock_);
  law_.prefetch();
  in_flight_.prefetch_newest();
}

/// Where no report is needed: whether they tell of the radio queue sooner than the UE's acknowledgements do.
void Bearer::settle_lead() {
  if (needs_reports_ || !clock_ || treatment_->regulates()) return;
  const Duration by_acks = clock_->law().hears_after();
  const Duration by_reports = 2 * treatment_->smvs.parameters.one_way_delay + reports_.last().period;
  if (clock_->doubts_reports()) {
    reports_lead_ = false;
    return;
  }
  // Who leads is not changed for a small advantage.
  reports_lead_ = by_acks > Duration::zero() && by_reports < (reports_lead_ ? by_acks * 4 / 5 : by_acks * 2 / 3);
}

/// One step of SMVS.
void Bearer::grant_by(const ReportArrival& report, Bytes in_flight, Bytes in_advance, double share) {
  if (treatment_->observes()) observed.add(grant_.given(), Bytes(in_flight_.total() - sent_at_report_), false);
  sent_at_report_ = in_flight_.total();
  const Bytes granted = law_.on_report(report, in_flight, reports_.last().period) - in_advance;
  radio_load_ = report.bearer.queue + in_flight;
  grant_.give(share < 1 ? Bytes(static_cast<double>(granted.count()) * share) : granted, load.backlog > Bytes{});
}

void Bearer::settle_windowed() {
  windowed_ = has_feedback() && window_law_of(treatment_->law()).has_value();
  both_ways_ = windowed_ && control::text_of(window_law()).both_ways;
}

bool Bearer::on_deadline(Instant now) {
  if (!steerable()) return false;
  const bool steered = fallback_.source() == control::ControlSource::feedback;
  const bool fell = steered && fallback_.check(now) == control::ControlSource::congestion_control;
  if (fell) bridge_.expect(never);
  settle_windowed();
  if (!steered || fell) return fell;
  if (now < bridge_.at() || windowed_) return false;
  // One report is missing. The law would have granted about what the link carries; the next report corrects the rest,
  // because what was injected meanwhile shows in the bytes in flight.
  const ReportArrival& last = reports_.last();
  bridge_.cross(last.period);
  const bool served = last.bearer.state == control::feedback::RadioState::normal;
  grant_.give(served ? mean_rate().in(last.period) : Bytes{}, load.backlog > Bytes{});
  return true;
}

Instant Bearer::deadline(Instant now) const {
  if (!has_feedback()) return never;
  if (clocked()) return std::min(clock_->room_at(now), fallback_.deadline());
  return windowed_ ? fallback_.deadline() : std::min(bridge_.at(), fallback_.deadline());
}

tcp::WindowSource Bearer::window_source() const {
  return steered() && !windowed_ ? tcp::WindowSource::allowance : tcp::WindowSource::congestion_control;
}

Bytes Bearer::allowance(Instant now) const {
  if (window_source() != tcp::WindowSource::allowance) return Bytes::max();
  return clocked() ? clock_->room(now) : grant_.left();
}

void Bearer::spend(Bytes bytes) {
  if (window_source() == tcp::WindowSource::allowance && !clocked()) grant_.spend(bytes);
}

control::OnWire<Bytes> Bearer::radio_error() const {
  if (treatment_->law() != Mode::smvs) return {};
  if (clocked()) return control::OnWire(clock_->excess());
  const control::SmvsParameters& parameters = treatment_->smvs.parameters;
  const Rate mean = mean_rate();
  const Bytes sent_since(static_cast<std::int64_t>(in_flight_.total() - sent_at_report_));
  return control::OnWire(radio_load_ + sent_since - mean.in(2 * parameters.one_way_delay) -
                         Bytes(control::smvs_reference(parameters, mean)));
}

Rate Bearer::mean_rate() const {
  if (clocked()) return clock_->law().rate();
  return law_.mean_rate(reports_.last().bearer.mean_service_rate);
}

control::feedback::BearerStatus Bearer::status(Bytes unsent) const {
  control::feedback::BearerStatus status;
  status.ue = ue_;
  status.injected = in_flight_.total();
  status.applied_sequence = law_.applied_sequence();
  status.backlog = unsent;
  status.allowance_left = std::max(grant_.left(), Bytes{});
  status.active_flows = flow_count;
  if (reports_.any()) status.reporter = reports_.last().sender;
  return status;
}

}  // namespace sluice::proxy

// State of one UE bearer: applies Node-B reports, selects between reports and ACKs as the controller's input, and
// answers how much the radio leg may send. ReportDispatcher calls it for reports and timers, the split and end-to-end
// paths for each segment. Invariant: siblings of one UE count the same sent bytes, because they share its radio queue.
// The SMVS step follows section 5 of the paper (control/smvs/smvs.hpp).
#include "proxy/engine/bearer/bearer.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/flow/prefetch.hpp"

namespace sluice::proxy {

Bearer::Bearer(const PolicySettings& settings, const IpAddress& ue, BearerPools& pools, bool in_control_group)
    : settings_(&settings),
      pools_(&pools),
      ue_(ue),
      in_control_group_(in_control_group),
      prioritizes_short_flows_(settings.prioritizes_short_flows()),
      counts_(!in_control_group && needs_feedback(settings.mode)),
      rate_control_(settings, in_control_group) {}

Bearer::~Bearer() {
  drop_cross_traffic_queue();
  drop_uplink();
  sent_.drop(pools_->recent_sends);
  ack_controller_.drop(pools_->ack_controllers);
  report_state_.drop(pools_->report_states);
  queue_.drop(pools_->queues);
}

CrossTrafficQueue& Bearer::make_cross_traffic_queue() {
  pools_->cross_traffic_of[id] = pools_->cross_traffic.emplace();
  has_cross_traffic_queue_ = true;
  return cross_traffic_queue();
}

void Bearer::drop_cross_traffic_queue() {
  if (!has_cross_traffic_queue_) return;
  drop_answer_clock();
  pools_->cross_traffic.erase(pools_->cross_traffic_of[id]);
  has_cross_traffic_queue_ = false;
}

UplinkState& Bearer::make_uplink() {
  pools_->uplink_of[id] = pools_->uplinks.emplace();
  has_uplink_ = true;
  return uplink();
}

void Bearer::drop_uplink() {
  if (!has_uplink_) return;
  pools_->uplinks.erase(pools_->uplink_of[id]);
  has_uplink_ = false;
}

control::AnswerClock& Bearer::make_answer_clock(Instant now) {
  return cross_traffic_queue().clock.make(pools_->answer_clocks, now);
}

const ReportSequencer& Bearer::reports() const {
  static const ReportSequencer none{Duration::zero()};
  return report_state_ ? report_state_->reports : none;
}

AckController& Bearer::make_ack_controller() {
  AckController& controller = ack_controller_.make(pools_->ack_controllers, settings_->smvs.acks, &trace);
  controller.add_cross_traffic(Bytes(std::int64_t{std::exchange(cross_traffic_, 0)}));
  return controller;
}

void Bearer::count_cross_traffic(Bytes bytes) {
  if (ack_controller_) {
    ack_controller_->add_cross_traffic(bytes);
  } else {
    cross_traffic_ = static_cast<std::uint32_t>(std::min(cross_traffic_ + bytes.count(), std::int64_t{UINT32_MAX}));
  }
}

void Bearer::inherit(const Bearer& before, Instant now) {
  const SmvsSettings& smvs = settings_->smvs;
  const bool same_path = before.settings_->smvs.parameters.one_way_delay == smvs.parameters.one_way_delay;
  if (same_path) sent_.inherit(before.sent_, recent_sends_pool());
  if (before.queue_) queue().inherit(*before.queue_, same_path);
  framing = before.framing;
  used_ = used_ || before.used_;
  // An observed controller knows the path by the time it acts. The standing queue of ordinary TCP would hide the base
  // delay from a new one.
  const bool switches_observation =
      before.generation != generation && (before.settings_->observes() || settings_->observes());
  if (switches_observation && before.ack_controller_ && rate_control_.uses_ack_feedback())
    ack_controller().adopt(*before.ack_controller_);
  if (before.reports().any()) inherit_reports(before, now);
}

void Bearer::inherit_reports(const Bearer& before, Instant now) {
  ReportState& own = make_report_state();
  const ReportState& known = *before.report_state_;
  own.reports.inherit(known.reports);
  own.law.inherit(known.law);
  own.step_length_check = known.step_length_check;
  own.sampling_rate_check = known.sampling_rate_check;
  own.law.seed(before.mean_rate());
  if (rate_control_.uses_ack_feedback()) ack_controller().seed(now, before.mean_rate());
  if (!rate_control_.can_be_controlled()) {
    own.fallback.remember(before.mean_rate());
    return;
  }
  const ReportArrival& last = own.reports.last();
  if (before.rate_control_.can_be_controlled()) {
    own.fallback = known.fallback;
    own.fallback.set_parameters(settings_->smvs.fallback);
  } else {
    own.fallback.on_report(own.reports.last_at(), last.period, last.bearer.state, before.mean_rate());
    own.fallback.check(now);
  }
  rate_control_.set_timely_reports(*settings_, own.reports_are_timely());
  const Bytes bytes_in_flight = in_flight().on_report(now, last.bearer.arrived);
  queue().on_report(last.bearer, in_flight().total(), bytes_in_flight, now);
  own.extrapolator.expect(rate_control_.needs_reports() ? now + last.period : never);
  own.grant.give(mean_rate().in(last.period), load.backlog > Bytes{});
}

void Bearer::end_short_flow(Instant now) {
  bool any = load.short_flows > 0;
  for_each_sibling([&any](const Bearer& other) { any = any || other.load.short_flows > 0; });
  if (any) return;
  short_flow_timer_.end(now);
  for_each_sibling([now](Bearer& other) { other.short_flow_timer_.end(now); });
}

void Bearer::recompute_counting() {
  bool any = rate_control_.can_be_controlled();
  for_each_sibling([&any](const Bearer& other) { any = any || other.rate_control_.can_be_controlled(); });
  counts_ = any;
  for_each_sibling([any](Bearer& other) { other.counts_ = any; });
}

Bearer::Verdict Bearer::on_report(const ReportArrival& report, Instant now, double share) {
  if (reports().is_stale(report)) return Verdict::stale;
  ReportState& own = make_report_state();
  if (own.reports.changes_run(report)) change_reporter(report);
  const bool trusted = !rate_control_.uses_ack_feedback() || ack_controller().on_report(now, report.bearer, own.check);
  const Bytes bytes_in_flight = in_flight().on_report(now, report.bearer.arrived);
  // Some steps without a report replaced lost reports, others only late ones. The grants of the latter are subtracted,
  // because the late report itself grants that data.
  const auto late = static_cast<std::int64_t>(own.extrapolator.take_late(own.reports.lost_before(report)));
  const Bytes in_advance = mean_rate().in(own.reports.last().period) * late;
  own.reports.record(report, now);
  const Duration period = own.reports.last().period;
  own.trusted = trusted;
  if (!trusted)
    return Verdict::distrusted;  // A distrusted report counts as missing, so report-driven senders fall back in time.
  if (!rate_control_.can_be_controlled()) return Verdict::applied;
  if (settings_->law() == Mode::smvs) {
    grant_by(report, bytes_in_flight, in_advance, share, now);
  } else {
    queue().on_report(report.bearer, in_flight().total(), bytes_in_flight, now);
  }
  own.fallback.on_report(now, period, report.bearer.state, mean_rate());
  rate_control_.set_timely_reports(*settings_, own.reports_are_timely());
  select_controller();
  own.extrapolator.expect(rate_control_.is_report_based() ? now + period + period / 2 : never);
  return Verdict::applied;
}

void Bearer::on_omitted(const SuppressingNodeB& sender) {
  if (report_state_) report_state_->on_omitted(sender, can_suspend());
}

void Bearer::suspend_extrapolation(const SuppressingNodeB& sender) {
  if (can_suspend()) report_state_->suspend(sender);
}

/// True if the timer that detects a missing Node-B report may be suspended. An allowance of trusted reports must limit
/// the sending. The bearer must have nothing to send, have sent nothing since the last grant of bytes, and limit no
/// cross traffic. No further controller step is then needed until spend() records bytes.
bool Bearer::can_suspend() const {
  return report_state_ && report_state_->trusted && rate_control_.window_source() == tcp::WindowSource::allowance &&
         !report_state_->grant.is_used() && load.backlog == Bytes{} && !has_cross_traffic_queue_;
}

void Bearer::prefetch() const {
  flow::prefetch_all(*this);
}

void Bearer::prefetch_controller_state() const {
  if (report_state_) flow::prefetch_all(*report_state_);
  if (ack_controller_) flow::prefetch_all(*ack_controller_);
  if (queue_) flow::prefetch_all(*queue_);
  sent_.prefetch();
}

void Bearer::observe_ack_controller() {
  const AckController& controller = ack_controller();
  const control::DelayBasedController& law = controller.law();
  observe(law.window(), controller.flight(), false);
  if (law.rate() <= Rate() || law.base_delay() <= Duration::zero()) return;
  const Duration decided = law.rate().time_for(law.reference());
  const Duration actual = std::max(law.srtt() - law.base_delay(), Duration::zero());
  report_state_->observed.add_delays(decided, actual);
  pools_->observed.add_delays(decided, actual);
}

/// Handles the first report of another Node-B after a handover, or of a Node-B that has restarted. Its counters, clock
/// and queue are unrelated to those of the old run, so what was derived from them is discarded. The estimated rate is
/// kept until new samples replace it. Whether reports are trusted is kept, too, if the Node-B is the same.
void Bearer::change_reporter(const ReportArrival& report) {
  in_flight().restart();
  report_state_->law.restart();
  if (queue_) queue_->restart(report.bearer.dropped);
  report_state_->extrapolator.restart();
  if (ack_controller_ && report_state_->reports.changes_reporter(report)) ack_controller_->change_reporter();
}

/// Selects the input of the controller: Node-B reports, or the UE's ACKs. The input with less feedback delay is
/// preferred; RateControlMode::compare() states the rule. The delay of reports is 2·τp (round trip to the Node-B) plus
/// their period. The ACK-based controller estimates the delay of ACKs. Reports are not selected while ACKs contradict
/// them.
void Bearer::select_controller() {
  if (rate_control_.needs_reports() || !rate_control_.uses_ack_feedback()) return;
  const AckController& controller = ack_controller();
  const Duration by_reports = 2 * settings_->smvs.parameters.one_way_delay + reports().last().period;
  // Without bytes of connections in flight no ACKs come, so only reports can limit the cross traffic that waits.
  const bool awaits_acks = has_cross_traffic_queue_ ? cross_traffic_queue().awaits_acks(controller.flight()) : in_use();
  const Duration by_acks = awaits_acks ? controller.law().feedback_delay() : std::chrono::hours(1);
  rate_control_.compare(*settings_, by_reports, by_acks, controller.suspects_reports());
}

/// Runs one step of the report-based controller with the Node-B report `report`. Bytes that were granted while this
/// report was missing (`in_advance`) are subtracted from the allowance (bytes to send) that the controller computes.
/// This bearer gets the part `share` of the rest.
void Bearer::grant_by(const ReportArrival& report, Bytes bytes_in_flight, Bytes in_advance, double share, Instant now) {
  ReportState& own = *report_state_;
  if (settings_->observes() && !rate_control_.is_ack_based())
    observe(own.grant.given(), Bytes(sent_.total() - own.sent_at_report), false);
  own.sent_at_report = sent_.total();
  own.reference_factor = settings_->smvs.law == ControllerLocation::nodeb ? 1 : reference_factor(now);
  const Bytes granted =
      own.law.on_report(report, bytes_in_flight, own.reports.last().period, own.reference_factor) - in_advance;
  own.radio_load = report.bearer.queue + bytes_in_flight;
  own.grant.give(share < 1 ? Bytes(static_cast<double>(granted.count()) * share) : granted, load.backlog > Bytes{});
}

bool Bearer::on_deadline(Instant now) {
  if (!rate_control_.can_be_controlled() || !rate_control_.has_timely_reports()) return false;
  ReportState& own = *report_state_;
  if (own.fallback.check(now) == control::ControlSource::congestion_control) {
    own.extrapolator.expect(never);
    rate_control_.set_timely_reports(*settings_, false);
    return true;
  }
  if (now < own.extrapolator.at() || rate_control_.has_flow_windows()) return false;
  own.extrapolate_missing_report(mean_rate(), load.backlog > Bytes{});
  return true;
}

Instant Bearer::deadline(Instant now) const {
  if (!rate_control_.has_feedback()) return never;
  const Instant late = report_state_ ? report_state_->fallback.deadline() : never;
  if (rate_control_.is_ack_based()) return std::min(ack_controller().budget_available_at(now), late);
  return rate_control_.has_flow_windows() || !report_state_ ? late : std::min(report_state_->extrapolator.at(), late);
}

bool Bearer::spend(Bytes bytes, Instant now) {
  if (rate_control_.window_source() != tcp::WindowSource::allowance || rate_control_.is_ack_based()) return false;
  return make_report_state().spend(bytes, now);
}

Bytes Bearer::seed_window(Duration srtt) const {
  if (report_state_) return report_state_->fallback.seed_window(srtt);
  return control::Fallback(settings_->smvs.fallback).seed_window(srtt);
}

}  // namespace sluice::proxy

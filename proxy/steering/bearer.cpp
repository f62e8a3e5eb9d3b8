#include "proxy/steering/bearer.hpp"

#include <algorithm>
#include <utility>

#include "control/reference.hpp"
#include "dataplane/flow/prefetch.hpp"

namespace sluice::proxy {

Bearer::Bearer(const Treatment& treatment, const IpAddress& ue, BearerParts& parts, bool ordinary)
    : treatment_(&treatment),
      parts_(&parts),
      ue_(ue),
      ordinary_(ordinary),
      steerable_(!ordinary && needs_feedback(treatment.mode)),
      counts_(steerable_),
      needs_reports_(treatment.needs_reports()),
      listens_(!ordinary && treatment.listens()),
      acks_alone_(listens_ && !needs_reports_),
      minds_young_(treatment.minds_young()) {
  settle_windowed();
}

Bearer::~Bearer() {
  sent_of_late_.drop(parts_->sent_of_late);
  clock_.drop(parts_->clocks);
  reported_.drop(parts_->reported);
  queue_.drop(parts_->queues);
}

const ReportStream& Bearer::no_reports() {
  static const ReportStream none{Duration::zero()};
  return none;
}

AckClock& Bearer::make_clock() {
  AckClock& clock = clock_.make(parts_->clocks, treatment_->smvs.acks, &trace);
  clock.add_others(std::exchange(others_, Bytes{}));
  return clock;
}

void Bearer::count_others(Bytes bytes) {
  if (clock_) {
    clock_->add_others(bytes);
  } else {
    others_ += bytes;
  }
}

/// One packet of late is remembered here; with a second one there is more to keep.
void Bearer::count_first(Instant now, Bytes bytes) {
  if (bytes <= Bytes{}) return;
  const Duration round_trip = 2 * treatment_->smvs.parameters.one_way_delay;
  if (now == sent_at_) {
    sent_last_ += static_cast<std::uint32_t>(bytes.count());
  } else if (sent_last_ == 0 || now - sent_at_ > control::InFlight::horizon(round_trip)) {
    sent_last_ = static_cast<std::uint32_t>(bytes.count());
    sent_at_ = now;
  } else {
    make_sent_of_late().bytes.injected(now, bytes);
    return;
  }
  sent_ += static_cast<std::uint64_t>(bytes.count());
}

SentOfLate& Bearer::make_sent_of_late() {
  SentOfLate& sent = sent_of_late_.make(parts_->sent_of_late, *treatment_, id);
  sent.bytes.begin_at(sent_ - sent_last_);
  sent.bytes.injected(sent_at_, Bytes(std::int64_t{sent_last_}));
  return sent;
}

void Bearer::let_sent_rest(Instant now) {
  if (!sent_of_late_ || !sent_of_late_->bytes.is_past(now)) return;
  sent_ = sent_of_late_->bytes.total();
  sent_last_ = 0;
  sent_of_late_.drop(parts_->sent_of_late);
}

void Bearer::inherit(const Bearer& before, Instant now) {
  const SmvsMode& smvs = treatment_->smvs;
  const bool same_path = before.treatment_->smvs.parameters.one_way_delay == smvs.parameters.one_way_delay;
  if (same_path) inherit_sent(before);
  if (before.queue_) queue().inherit(*before.queue_, same_path);
  framing = before.framing;
  used_ = used_ || before.used_;
  if (before.reports().any()) inherit_reports(before, now);
}

void Bearer::inherit_sent(const Bearer& before) {
  sent_ = before.sent_;
  sent_last_ = before.sent_last_;
  sent_at_ = before.sent_at_;
  if (before.sent_of_late_) in_flight() = before.sent_of_late_->bytes;
}

void Bearer::inherit_reports(const Bearer& before, Instant now) {
  Reported& own = reported();
  const Reported& known = *before.reported_;
  own.reports.inherit(known.reports);
  own.law.inherit(known.law);
  own.step_watch = known.step_watch;
  own.variation = known.variation;
  own.law.seed(before.mean_rate());
  if (listens_) ack_clock().seed(now, before.mean_rate());
  if (!steerable()) {
    own.fallback.remember(before.mean_rate());
    return;
  }
  const ReportArrival& last = own.reports.last();
  if (before.steerable()) {
    own.fallback = known.fallback;
    own.fallback.set_parameters(treatment_->smvs.fallback);
  } else {
    own.fallback.on_report(own.reports.last_at(), last.period, last.bearer.state, before.mean_rate());
    own.fallback.check(now);
  }
  const Bytes under_way = in_flight().on_report(now, last.bearer.arrived);
  queue().on_report(last.bearer, in_flight().total(), under_way, now);
  own.bridge.expect(needs_reports_ ? now + last.period : never);
  own.grant.give(mean_rate().in(last.period), load.backlog > Bytes{});
  settle_windowed();
}

void Bearer::end_young(Instant now) {
  bool any = load.young_flows > 0;
  for (Bearer* other = &sibling(); other != this; other = &other->sibling()) any = any || other->load.young_flows > 0;
  if (any) return;
  young_until_ = tcp::tick::fine(now) - 1;
  for (Bearer* other = &sibling(); other != this; other = &other->sibling()) other->young_until_ = young_until_;
}

void Bearer::settle_ring() {
  bool any = steerable();
  for (const Bearer* other = &sibling(); other != this; other = &other->sibling()) any = any || other->steerable();
  counts_ = any;
  for (Bearer* other = &sibling(); other != this; other = &other->sibling()) other->counts_ = any;
}

Bearer::Verdict Bearer::on_report(const ReportArrival& report, Instant now, double share) {
  if (reports().is_stale(report)) return Verdict::stale;
  Reported& own = reported();
  if (own.reports.changes_reporter(report)) change_reporter(report);
  const bool trusted = !listens_ || ack_clock().on_report(now, report.bearer);
  const Bytes under_way = in_flight().on_report(now, report.bearer.arrived);
  // Bridges stood in for reports that were lost or only late. What was granted for a late one is part of what it
  // grants.
  const auto late = static_cast<std::int64_t>(own.bridge.take_late(own.reports.lost_before(report)));
  const Bytes in_advance = mean_rate().in(own.reports.last().period) * late;
  own.reports.note(report, now);
  const Duration period = own.reports.last().period;
  own.trusted = trusted;
  if (!trusted) return Verdict::distrusted;  // who goes by reports finds that none came
  if (!steerable()) return Verdict::applied;
  if (treatment_->law() == Mode::smvs) {
    grant_by(report, under_way, in_advance, share, now);
  } else {
    queue().on_report(report.bearer, in_flight().total(), under_way, now);
  }
  own.fallback.on_report(now, period, report.bearer.state, mean_rate());
  settle_lead();
  own.bridge.expect(led_by_reports() ? now + period + period / 2 : never);
  settle_windowed();
  return Verdict::applied;
}

void Bearer::on_left_out(const LeavingSender& sender) {
  if (!reported_ || !reported_->trusted) return;
  Reported& own = *reported_;
  const ReportArrival& last = own.reports.last();
  if (sender.speaks_of(last)) own.reports.note_left_out(std::min(sender.heard(), sender.holds_until(last)));
  if (rests() && sender.has_sent(last)) return rest(sender);
  own.fallback.on_left_out(own.reports.last_at(), own.reports.heard_at(), last.period);
}

void Bearer::rest(const LeavingSender& sender) {
  if (!rests() || !sender.has_sent(reports().last())) return;
  Reported& own = *reported_;
  const Instant its_turn = own.reports.last_at() + sender.refresh();
  const Instant holds = std::max(own.reports.heard_at(), std::min(its_turn, sender.holds_until(own.reports.last())));
  own.fallback.on_left_out(own.reports.last_at(), holds, own.reports.last().period);
  own.bridge.rest();
}

/// Nothing waits to be sent, and nothing was since the last step: nobody asks for another, nor whether the Node-B has
/// become silent. When something is sent, that is looked at: spend().
bool Bearer::rests() const {
  return reported_ && reported_->trusted && window_source() == tcp::WindowSource::allowance &&
         !reported_->grant.touched() && load.backlog == Bytes{};
}

void Bearer::on_named_again(const LeavingSender& sender, const ReportArrival& next) {
  if (!reported_ || reports().is_stale(next)) return;
  const ReportArrival& last = reported_->reports.last();
  const Duration until = sender.left_out_before(next.sender_time);
  if (last.sender != next.sender || last.epoch != next.epoch || !sender.vouches_for(last)) return;
  if (until > last.sender_time && until < next.sender_time) reported_->law.on_left_out(last, until);
}

void Bearer::prefetch() const {
  flow::prefetch_all(*this);
}

void Bearer::prefetch_law() const {
  if (reported_) flow::prefetch_all(*reported_);
  if (clock_) flow::prefetch_all(*clock_);
  if (queue_) flow::prefetch_all(*queue_);
  if (sent_of_late_) sent_of_late_->bytes.prefetch();
}

/// The UE is with another Node-B: its counters, its clock and its queue are others. What is known of the rate stays
/// until it is known better.
void Bearer::change_reporter(const ReportArrival& report) {
  in_flight().restart();
  reported_->law.restart();
  if (queue_) queue_->restart(report.bearer.dropped);
  reported_->bridge.restart();
  if (clock_) clock_->change_reporter();
}

/// Where no report is needed: whether they tell of the radio queue sooner than the UE's acknowledgements do.
void Bearer::settle_lead() {
  if (needs_reports_ || !listens_ || treatment_->regulates()) return;
  const Duration by_acks = ack_clock().law().hears_after();
  const Duration by_reports = 2 * treatment_->smvs.parameters.one_way_delay + reports().last().period;
  // Who leads is not changed for a small advantage.
  const bool sooner = by_acks > Duration::zero() && by_reports < (reports_lead_ ? by_acks * 4 / 5 : by_acks * 2 / 3);
  reports_lead_ = sooner && !ack_clock().doubts_reports();
  acks_alone_ = !reports_lead_;
}

/// One step of SMVS.
void Bearer::grant_by(const ReportArrival& report, Bytes under_way, Bytes in_advance, double share, Instant now) {
  Reported& own = *reported_;
  if (treatment_->observes()) observe(own.grant.given(), Bytes(sent_total() - own.sent_at_report), false);
  own.sent_at_report = sent_total();
  own.reference_part = treatment_->smvs.law == LawPlace::nodeb ? 1 : reference_part(now);
  const Bytes granted =
      own.law.on_report(report, under_way, own.reports.last().period, own.reference_part) - in_advance;
  own.radio_load = report.bearer.queue + under_way;
  own.grant.give(share < 1 ? Bytes(static_cast<double>(granted.count()) * share) : granted, load.backlog > Bytes{});
}

void Bearer::settle_windowed() {
  windowed_ = has_feedback() && window_law_of(treatment_->law()).has_value();
  both_ways_ = windowed_ && control::text_of(window_law()).both_ways;
}

bool Bearer::on_deadline(Instant now) {
  if (!steerable()) return false;
  const bool steered = heeds_reports();
  const bool fell = steered && reported_->fallback.check(now) == control::ControlSource::congestion_control;
  if (fell) reported_->bridge.expect(never);
  settle_windowed();
  if (!steered || fell) return fell;
  Reported& own = *reported_;
  if (now < own.bridge.at() || windowed_) return false;
  // One report is missing. The law would have granted about what the link carries; the next report corrects the rest,
  // because what was injected meanwhile shows in the bytes in flight.
  const ReportArrival& last = own.reports.last();
  own.bridge.cross(last.period);
  const bool served = last.bearer.state == control::feedback::RadioState::normal;
  own.grant.give(served ? mean_rate().in(last.period) : Bytes{}, load.backlog > Bytes{});
  return true;
}

Instant Bearer::deadline(Instant now) const {
  if (!has_feedback()) return never;
  const Instant late = reported_ ? reported_->fallback.deadline() : never;
  if (clocked()) return std::min(ack_clock().room_at(now), late);
  return windowed_ || !reported_ ? late : std::min(reported_->bridge.at(), late);
}

bool Bearer::spend(Bytes bytes, Instant now) {
  if (window_source() != tcp::WindowSource::allowance || clocked()) return false;
  Reported& own = reported();
  own.grant.spend(bytes);
  if (!own.bridge.rests()) [[likely]]
    return false;
  // The Node-B has yet to hear of what is sent now.
  const Duration period = own.reports.last().period;
  own.bridge.expect(now + period + period / 2);
  return true;
}

Bytes Bearer::reported_error() const {
  if (treatment_->law() != Mode::smvs) return {};
  const control::SmvsParameters& parameters = treatment_->smvs.parameters;
  const Rate mean = mean_rate();
  const Bytes sent_since(static_cast<std::int64_t>(sent_total() - (reported_ ? reported_->sent_at_report : 0)));
  const double part = reported_ ? reported_->reference_part : 1;
  return (reported_ ? reported_->radio_load : Bytes{}) + sent_since - mean.in(2 * parameters.one_way_delay) -
         Bytes(control::smvs_reference(parameters, mean, part));
}

Bytes Bearer::seed_window(Duration srtt) const {
  if (reported_) return reported_->fallback.seed_window(srtt);
  return control::Fallback(treatment_->smvs.fallback).seed_window(srtt);
}

control::feedback::BearerStatus Bearer::status(Bytes unsent) const {
  control::feedback::BearerStatus status;
  status.ue = ue_;
  status.injected = sent_total();
  status.backlog = unsent;
  status.active_flows = flow_count + end_to_end_count;
  if (!reported_) return status;
  status.applied_sequence = reported_->law.applied_sequence();
  status.allowance_left = std::max(reported_->grant.left(), Bytes{});
  if (reports().any()) status.reporter = reports().last().sender;
  return status;
}

}  // namespace sluice::proxy

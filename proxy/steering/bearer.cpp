#include "proxy/steering/bearer.hpp"

#include <algorithm>
#include <utility>

#include "control/allowance.hpp"

namespace sluice::proxy {
namespace {

/// What N is counted by.
control::GwaParameters counting_of(const Treatment& treatment) {
  control::GwaParameters parameters;
  const std::optional<control::WindowLaw> law = window_law_of(treatment.law());
  const control::FlowCounting how = law ? control::counting(*law, treatment.laws) : control::FlowCounting{};
  parameters.decay = how.decay;
  parameters.interval = how.interval;
  return parameters;
}

/// One late report is no silence.
constexpr Duration least_silence = std::chrono::milliseconds(20);

/// B where neither the configuration nor the reports name it.
constexpr Bytes usual_buffer{64 * 1024};

}  // namespace

Bearer::Bearer(const Treatment& treatment, const IpAddress& ue, bool ordinary)
    : treatment_(&treatment),
      ue_(ue),
      ordinary_(ordinary),
      counts_(!ordinary && needs_feedback(treatment.mode)),
      fallback_(treatment.smvs.fallback),
      in_flight_(treatment.smvs.parameters.one_way_delay * 2),
      count_(counting_of(treatment)),
      rates_(std::chrono::seconds(1)) {
  if (treatment.law() == Mode::smvs && treatment.smvs.law == LawPlace::proxy) law_.emplace(treatment.smvs.parameters);
  if (!ordinary && treatment.listens()) clock_.emplace(treatment.smvs.acks);
  view_.buffer = treatment.laws.buffer > Bytes{} ? treatment.laws.buffer : usual_buffer;
  set_steering();
}

void Bearer::inherit(const Bearer& before, Instant now) {
  if (before.treatment_->smvs.parameters.one_way_delay == treatment_->smvs.parameters.one_way_delay) {
    in_flight_ = before.in_flight_;
    arrived_total_ = before.arrived_total_;
    left_total_ = before.left_total_;
  }
  framing_ = before.framing_;
  used = used || before.used;
  if (!before.reported_) return;
  last_ = before.last_;
  reported_ = true;
  report_time_ = before.report_time_;
  rates_ = before.rates_;
  applied_sequence_ = before.applied_sequence_;
  if (law_) law_->seed(before.mean_rate());
  if (clock_) clock_->law().seed(now, before.mean_rate());
  if (!steerable()) {
    fallback_.remember(before.mean_rate());
    return;
  }
  if (before.steerable()) {
    fallback_ = before.fallback_;
    fallback_.set_parameters(treatment_->smvs.fallback);
  } else {
    fallback_.on_report(report_time_, last_.period, last_.bearer.state, before.mean_rate());
    fallback_.check(now);
  }
  look_at_queue(last_, in_flight_.on_report(now, last_.bearer.arrived), now);
  bridge_at_ = treatment_->needs_reports() ? now + last_.period : never;
  grant(mean_rate().in(last_.period));
  set_steering();
}

void Bearer::observe(Bytes decided, Bytes actual, bool waits) {
  ++observed_.decisions;
  observed_.decided_bytes += static_cast<double>(decided.count());
  observed_.actual_bytes += static_cast<double>(actual.count());
  if (waits) ++observed_.waits;
}

void Bearer::join_ring(Bearer& other) {
  sibling_ = std::exchange(other.sibling_, this);
  settle_ring();
}

void Bearer::leave_ring() {
  Bearer* before = this;
  while (before->sibling_ != this) before = before->sibling_;
  before->sibling_ = std::exchange(sibling_, this);
  if (before != this) before->settle_ring();
  settle_ring();
}

void Bearer::settle_ring() {
  bool any = steerable();
  for (const Bearer* other = sibling_; other != this; other = other->sibling_) any = any || other->steerable();
  counts_ = any;
  for (Bearer* other = sibling_; other != this; other = other->sibling_) other->counts_ = any;
}

bool Bearer::accepts_report(const ReportArrival& report, Instant now) const {
  if (!changes_reporter(report)) return true;
  using control::feedback::RadioState;
  const Duration silence = std::max(std::min(2 * last_.period, treatment_->smvs.fallback.maximum), least_silence);
  return report.bearer.state == RadioState::normal &&
         (last_.bearer.state != RadioState::normal || now - report_time_ >= silence);
}

/// The UE is with another Node-B: its counters, its clock and its queue are others. What is known of the rate stays
/// until it is known better.
void Bearer::follow(const ReportArrival& report) {
  in_flight_.restart();
  if (law_) law_->restart();
  rates_.clear();
  dropped_ = report.bearer.dropped;
  bridges_ = 0;
  applied_sequence_ = 0;
}

Bearer::Verdict Bearer::on_report(const ReportArrival& report, Instant now, double share) {
  const bool from_another = changes_reporter(report);
  const bool restarted = reported_ && report.epoch != last_.epoch;
  if (reported_ && !from_another && !restarted && report.sequence <= last_.sequence) return Verdict::stale;

  if (from_another) follow(report);
  const Bytes in_flight = in_flight_.on_report(now, report.bearer.arrived);
  const Bytes advanced = granted_in_advance(report);
  last_ = report;
  last_.period = std::min(report.period, treatment_->smvs.fallback.maximum);  // longer silence is not borne
  reported_ = true;
  report_time_ = now;
  bridge_at_ = now + last_.period + last_.period / 2;
  status_changed = true;
  if (!steerable()) return Verdict::applied;

  if (treatment_->law() == Mode::smvs) {
    if (treatment_->observes()) observe(granted_, Bytes(in_flight_.total() - sent_at_report_), false);
    sent_at_report_ = in_flight_.total();
    const Bytes granted = run_law(report, in_flight, now) - advanced;
    radio_load_ = report.bearer.queue + in_flight;
    if (treatment_->smvs.law == LawPlace::acks) bridge_at_ = never;
    grant(share < 1 ? Bytes(static_cast<double>(granted.count()) * share) : granted);
  } else {
    look_at_queue(report, in_flight, now);
  }
  fallback_.on_report(now, last_.period, report.bearer.state, mean_rate());
  set_steering();
  return Verdict::applied;
}

void Bearer::set_steering() {
  windowed_ = has_feedback() && window_law_of(treatment_->law()).has_value();
}

/// What the report says, as the laws of windows want it.
void Bearer::look_at_queue(const ReportArrival& report, Bytes under_way, Instant now) {
  const control::feedback::BearerReport& queue = report.bearer;
  ++reports_;
  // In IP bytes, as the proxy counts; the report's own figure may be in frames on the air.
  view_.queue = std::min(control::feedback::waiting(queue), control::feedback::most_plausible);
  view_.mean_rate = queue.mean_service_rate;
  rates_.add(now, queue.service_rate.bytes_per_second());
  view_.best_rate = Rate::bytes_per_second(rates_.range(now).value_or(control::SlidingExtremes::Range{}).high);
  view_.dropped = reports_ > 1 && queue.dropped > dropped_;
  dropped_ = queue.dropped;
  if (treatment_->laws.buffer <= Bytes{} && queue.buffer > Bytes{}) view_.buffer = queue.buffer;
  view_.advertised = queue.gwa_window.value_or(Bytes::max());
  arrived_total_ = in_flight_.total() - static_cast<std::uint64_t>(under_way.count());
  const auto waiting = static_cast<std::uint64_t>(view_.queue.count());
  left_total_ = std::max(left_total_, arrived_total_ - std::min(waiting, arrived_total_));
  if (queue.clamp) {
    view_.price = queue.clamp->price;
  } else if (treatment_->law() == Mode::clamp) {
    if (!price_) price_.emplace(treatment_->laws.price);
    price_->on_arrival(now, view_.queue);
    view_.price = price_->price(view_.mean_rate).price;
  }
}

const control::QueueView& Bearer::queue_view(Instant now) {
  if (counted_ != now) {
    view_.flows = count_.count(now);
    counted_ = now;
  }
  return view_;
}

/// Bridges stood in for reports that were lost or only late. What was granted for a late one is part of what it grants.
Bytes Bearer::granted_in_advance(const ReportArrival& report) {
  const std::uint64_t lost = report.sequence > last_.sequence ? report.sequence - last_.sequence - 1 : 0;
  const std::uint64_t late = bridges_ > lost ? bridges_ - lost : 0;
  bridges_ = 0;
  return mean_rate().in(last_.period) * static_cast<std::int64_t>(late);
}

Bytes Bearer::run_law(const ReportArrival& report, Bytes in_flight, Instant now) {
  if (law_) {
    // The observation is dated by the sender's clock: the network's jitter must not look like a change of rate.
    control::SmvsObservation observation;
    observation.now = Instant(report.sender_time);
    observation.queue = report.bearer.queue;
    observation.arrived = report.bearer.arrived;
    observation.served = report.bearer.transmitted;
    observation.in_flight = in_flight;
    static_cast<void>(now);
    return law_->step(observation);
  }
  if (treatment_->smvs.law == LawPlace::acks) return Bytes{};
  if (report.bearer.allowance) {
    applied_sequence_ = report.sequence;
    return *report.bearer.allowance;
  }
  // A Node-B that computes no allowance: its mean rate is the best that is known.
  return report.bearer.mean_service_rate.in(last_.period);
}

void Bearer::grant(Bytes allowance) {
  const Bytes carried =
      std::min(std::max(allowance_, Bytes{}), load.backlog > Bytes{} ? control::longest_packet : Bytes{});
  granted_ = std::max(allowance, Bytes{});
  allowance_ = granted_ + carried;
}

bool Bearer::on_deadline(Instant now) {
  if (!steerable()) return false;
  const bool steered = fallback_.source() == control::ControlSource::feedback;
  const bool fell = steered && fallback_.check(now) == control::ControlSource::congestion_control;
  if (fell) bridge_at_ = never;
  set_steering();
  if (!steered || fell) return fell;
  if (now < bridge_at_ || windowed_) return false;
  // One report is missing. The law would have granted about what the link carries; the next report corrects the rest,
  // because what was injected meanwhile shows in the bytes in flight.
  bridge_at_ += last_.period;
  ++bridges_;
  grant(last_.bearer.state == control::feedback::RadioState::normal ? mean_rate().in(last_.period) : Bytes{});
  return true;
}

Instant Bearer::deadline() const {
  if (!has_feedback()) return never;
  return windowed_ ? fallback_.deadline() : std::min(bridge_at_, fallback_.deadline());
}

tcp::WindowSource Bearer::window_source() const {
  return steered() && !windowed_ ? tcp::WindowSource::allowance : tcp::WindowSource::congestion_control;
}

Bytes Bearer::allowance() const {
  if (window_source() != tcp::WindowSource::allowance) return Bytes::max();
  return clocked() ? clock_->room() : allowance_;
}

void Bearer::spend(Bytes bytes) {
  if (window_source() == tcp::WindowSource::allowance && !clocked()) allowance_ -= bytes;
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
  return law_ && law_->state().steps > 0 ? law_->state().mean_rate : last_.bearer.mean_service_rate;
}

control::feedback::BearerStatus Bearer::status(Bytes unsent) const {
  control::feedback::BearerStatus status;
  status.ue = ue_;
  status.injected = in_flight_.total();
  status.applied_sequence = applied_sequence_;
  status.backlog = unsent;
  status.allowance_left = std::max(allowance_, Bytes{});
  status.active_flows = flow_count;
  if (reported_) status.reporter = last_.sender;
  return status;
}

}  // namespace sluice::proxy

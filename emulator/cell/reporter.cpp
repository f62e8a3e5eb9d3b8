// Implements Reporter: builds the Node-B's feedback reports and computes the allowance, price or window in them. The
// event loop calls on_event() four times per period if sharp changes are reported, otherwise once. The live feedback
// endpoint calls on_status() and on_poll() with messages of the proxy; in virtual time the feedback wire calls
// on_status(). Report counters are in IP bytes and relative to the UE's arrival at this Node-B; the SMVS law works in
// bytes with padding of radio frames. Sources: the SMVS, CLAMP and GWA papers (`control/smvs/smvs.hpp`,
// `control/window_laws/clamp_price.hpp`, `control/window_laws/gwa.hpp`).

#include "emulator/cell/reporter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "control/feedback/codec.hpp"
#include "control/window_laws/gwa.hpp"

namespace sluice::emulator {
namespace {

/// Number of times per report period at which UEs are checked for a sharp change of their service rate. The last check
/// coincides with the regular report.
constexpr std::uint64_t checks_per_period = 4;

const ReporterConfig& checked(const ReporterConfig& config) {
  if (config.period < Duration(checks_per_period)) throw std::invalid_argument("reporter: the period must be above 0");
  if (!(config.sharp_change >= 0)) throw std::invalid_argument("reporter: sharp_change must be 0 or more");
  if (!(config.mean_alpha >= 0 && config.mean_alpha < 1)) {
    throw std::invalid_argument("reporter: mean_alpha must be 0 or more and below 1");
  }
  if (config.law && config.law->step != config.period) {
    throw std::invalid_argument("reporter: the law's step must equal the period of the reports");
  }
  if (config.refresh < Duration::zero()) throw std::invalid_argument("reporter: the refresh must be 0 or more");
  return config;
}

}  // namespace

Reporter::Reporter(EventLoop& loop, Cell& cell, const ReporterConfig& config, ReportSink& sink)
    : loop_(loop), cell_(cell), config_(checked(config)), sink_(sink), bearers_(cell.ues()) {
  batch_.reserve(bearers_.size());
  cell_.set_presence_observer(this);
  if (config_.price) {
    for (Bearer& bearer : bearers_) bearer.price.emplace(*config_.price);
    cell_.set_arrival_observer(this);
  }
  if (!config_.law) return;
  for (UeIndex ue = 0; ue < bearers_.size(); ++ue) {
    control::SmvsParameters law = *config_.law;
    if (law.buffer == Bytes(0)) law.buffer = cell.queue(ue).buffer();
    bearers_[ue].law.emplace(law);
    bearers_[ue].outstanding.emplace(law.one_way_delay);
  }
}

Reporter::~Reporter() {
  cell_.set_presence_observer(nullptr);
  if (config_.price) cell_.set_arrival_observer(nullptr);
}

void Reporter::on_arrival(UeIndex ue, Instant now) {
  bearers_[ue].price->on_arrival(now, cell_.queue(ue).bytes());
}

void Reporter::start(Instant now) {
  ++generation_;
  tick_ = 0;
  started_ = now;
  running_ = true;
  for (UeIndex ue = 0; ue < bearers_.size(); ++ue) begin(ue, now);
  set_next();
}

void Reporter::begin(UeIndex ue, Instant now) {
  Bearer& bearer = bearers_[ue];
  bearer.reported = bearer.checked = Mark{now, cell_.queue(ue).counters().transmitted_bytes};
  bearer.progressed = now;
}

/// Restarts the measurements and controllers of a UE that comes to this Node-B (`here` true), because they describe
/// another Node-B or an earlier stay. Has no effect if the UE leaves.
void Reporter::on_presence(UeIndex ue, bool here, Instant now) {
  if (!here) return;
  begin(ue, now);
  Bearer& bearer = bearers_[ue];
  const UeQueue& queue = cell_.queue(ue);
  // Packets forwarded before the UE came are in the queue already, so they count as arrived with it.
  bearer.since = queue.counters();
  bearer.since.arrived_bytes -= static_cast<std::uint64_t>(queue.bytes().count());
  bearer.sent.reset();
  bearer.mean_known = false;
  bearer.mean = 0;
  bearer.fraction = 0;
  if (bearer.price) bearer.price.emplace(*config_.price);
  if (!bearer.law) return;
  bearer.law->restart();
  bearer.law->seed(Rate());
  bearer.outstanding->restart();
}

void Reporter::set_next() {
  tick_ += config_.sharp_change > 0 ? 1 : checks_per_period;
  const auto tick = static_cast<Duration::rep>(tick_);
  loop_.at(started_ + Duration(config_.period.count() * tick / static_cast<Duration::rep>(checks_per_period)), *this,
           generation_);
}

void Reporter::on_event(std::uint64_t tag, Instant now) {
  if (!running_ || tag != generation_) return;
  if (tick_ % checks_per_period == 0) {
    report_all(now);
  } else {
    report_changes(now);
  }
  set_next();
}

void Reporter::report_all(Instant now) {
  batch_.clear();
  active_users_ = cell_.active_users();
  for (UeIndex ue = 0; ue < bearers_.size(); ++ue) {
    if (!has_news(ue)) continue;
    const control::feedback::BearerReport report = describe(ue, now);
    if (is_due(ue, report)) add(ue, report, now);
    bearers_[ue].reported_early = false;
    bearers_[ue].checked = bearers_[ue].reported;
  }
  ++rounds_;
  all_reported_ = now;
  send_batch(now);
}

bool Reporter::omits_unchanged() const {
  return config_.refresh > Duration::zero() && sink_.may_leave_out();
}

/// True if the report contains a change, or if the periodic report of an unchanged UE is due. Periodic reports of
/// unchanged UEs are spread over the periods, so that no period contains all of them.
bool Reporter::is_due(UeIndex ue, const control::feedback::BearerReport& report) const {
  if (!omits_unchanged() || !bearers_[ue].sent) return true;
  const auto every = static_cast<std::uint64_t>(std::max<Duration::rep>(config_.refresh / config_.period, 1));
  return (rounds_ + ue) % every == 0 ||
         !control::feedback::is_omissible(control::feedback::as_received(report), *bearers_[ue].sent);
}

void Reporter::add(UeIndex ue, const control::feedback::BearerReport& report, Instant now) {
  Bearer& bearer = bearers_[ue];
  if (bearer.outstanding) bearer.outstanding->granted(now, sink_.next_sequence(), *report.allowance);
  if (config_.refresh > Duration::zero()) bearer.sent = control::feedback::as_received(report);
  batch_.push_back(report);
}

void Reporter::send_batch(Instant now) {
  if (omits_unchanged()) {
    sink_.send_changes(batch_, config_.refresh, now);
  } else {
    sink_.send(batch_, now);
  }
  reports_ += batch_.size();
}

void Reporter::on_poll(Instant now) {
  if (!running_ || all_reported_ == now) return;
  gather_early(now, [this](UeIndex ue) { return has_news(ue); });
  all_reported_ = now;
  send_early(now);
}

void Reporter::report_changes(Instant now) {
  gather_early(now, [this, now](UeIndex ue) { return cell_.here(ue) && changed_sharply(ue, now); });
  if (!batch_.empty()) send_early(now);
}

template <typename Predicate>
void Reporter::gather_early(Instant now, Predicate is_selected) {
  batch_.clear();
  active_users_ = cell_.active_users();
  for (UeIndex ue = 0; ue < bearers_.size(); ++ue) {
    if (!is_selected(ue)) continue;
    bearers_[ue].reported_early = true;
    add(ue, describe(ue, now), now);
  }
}

void Reporter::send_early(Instant now) {
  send_batch(now);
  early_ += batch_.size();
}

bool Reporter::changed_sharply(UeIndex ue, Instant now) {
  Bearer& bearer = bearers_[ue];
  const UeQueue& queue = cell_.queue(ue);
  const Mark newest{now, queue.counters().transmitted_bytes};
  const double rate =
      Rate::of(Bytes(newest.transmitted - bearer.checked.transmitted), now - bearer.checked.at).bytes_per_second();
  bearer.checked = newest;
  // A queue that became empty gives no measurement of what the link could have carried.
  if (!bearer.mean_known || bearer.reported_early || queue.empty()) return false;
  return std::abs(rate - bearer.mean) > config_.sharp_change * bearer.mean;
}

void Reporter::measure(Bearer& bearer, const UeQueue& queue, Instant now) {
  const std::uint64_t transmitted = queue.counters().transmitted_bytes;
  const std::uint64_t went = transmitted - bearer.reported.transmitted;
  if (went > 0 || queue.empty()) bearer.progressed = now;
  bearer.rate = Rate::of(Bytes(went), now - bearer.reported.at);
  bearer.reported = {now, transmitted};

  const double rate = bearer.rate.bytes_per_second();
  if (!bearer.mean_known) {
    bearer.mean = rate;
    bearer.mean_known = went > 0;
  } else if (!queue.empty() || rate > bearer.mean) {
    // With an empty queue the link had too little to send, so such a period may raise the mean but never lowers it.
    bearer.mean = config_.mean_alpha * bearer.mean + (1 - config_.mean_alpha) * rate;
  }
}

control::feedback::BearerReport Reporter::describe(UeIndex ue, Instant now) {
  const UeQueue& queue = cell_.queue(ue);
  Bearer& bearer = bearers_[ue];
  measure(bearer, queue, now);

  control::feedback::BearerReport report;
  report.ue = cell_.address(ue);
  if (now - bearer.progressed >= config_.outage_after) report.state = control::feedback::RadioState::outage;
  if (cell_.state(ue) != control::feedback::RadioState::normal) report.state = cell_.state(ue);
  bearer.reported_here = report.state == control::feedback::RadioState::normal;
  report.queue = waiting(ue);
  const std::int64_t frame = queue.config().frame.count();
  if (frame > 0) report.queue_frames = static_cast<std::uint32_t>((report.queue.count() + frame - 1) / frame);
  report.buffer = queue.buffer();
  const QueueCounters& counters = queue.counters();
  report.arrived = counters.arrived_bytes - bearer.since.arrived_bytes;
  report.transmitted = counters.transmitted_bytes - bearer.since.transmitted_bytes;
  report.delivered = counters.delivered_bytes - bearer.since.delivered_bytes;
  report.dropped = counters.dropped_bytes - bearer.since.dropped_bytes;
  report.service_rate = bearer.rate;
  report.mean_service_rate = Rate::bytes_per_second(bearer.mean);
  report.active_flows = bearer.active_flows;
  report.active_users = active_users_;
  if (bearer.price) report.clamp = bearer.price->price(report.mean_service_rate);
  if (config_.advertised_buffer) report.gwa_window = advertise(bearer, queue, now);
  if (bearer.law) {
    report.allowance = allowance(bearer, queue, report.queue, now);
    if (cell_.losing(ue)) report.allowance = Bytes(0);
    report.mean_service_rate = bearer.law->state().mean_rate;
  }
  return report;
}

Bytes Reporter::waiting(UeIndex ue) const {
  const UeQueue& queue = cell_.queue(ue);
  return queue.air_bytes() + Bytes(queue.counters().forwarded_air - bearers_[ue].since.forwarded_air);
}

/// Returns the receive window that Generalized Window Advertising (GWA) gives to each flow of the UE: the free space of
/// the queue divided by the number of flows (GWA-FCFS). The result is at most the receive window that the upstream
/// router advertises.
Bytes Reporter::advertise(const Bearer& bearer, const UeQueue& queue, Instant now) const {
  control::GwaParameters parameters;
  parameters.buffer = queue.buffer() > Bytes(0) ? queue.buffer() : *config_.advertised_buffer;
  control::GwaObservation seen;
  seen.queue = queue.air_bytes();
  seen.flows = bearer.active_flows;
  if (config_.upstream != nullptr) seen.upstream = config_.upstream->window(flows_of_all(), now);
  return control::gwa_window(parameters, seen);
}

/// Returns the number of active flows of all UEs, at least 1. The upstream router divides the free space of its buffer
/// by this number.
double Reporter::flows_of_all() const {
  double sum = 0;
  for (const Bearer& bearer : bearers_) sum += bearer.active_flows;
  return std::max(sum, 1.0);
}

Bytes Reporter::allowance(Bearer& bearer, const UeQueue& queue, Bytes waiting, Instant now) {
  const QueueCounters& counters = queue.counters();
  // The law works in bytes with padding of radio frames (the paper's γ frames per packet), whereas the proxy counts IP
  // bytes. The constant keeps handshakes and pure ACKs, which are nearly all padding, from dominating the ratio until
  // full packets have arrived.
  constexpr double full_packets = 14'600;
  const double air_per_ip = (static_cast<double>(counters.arrived_air) + full_packets) /
                            (static_cast<double>(counters.arrived_bytes) + full_packets);
  const Bytes in_flight = bearer.outstanding->in_flight(now, counters.arrived_bytes);
  control::SmvsObservation observation;
  observation.now = now;
  observation.queue = waiting;
  observation.arrived = counters.arrived_air;
  observation.served = counters.carried;
  observation.in_flight = Bytes(static_cast<double>(in_flight.count()) * air_per_ip);
  const double granted = static_cast<double>(bearer.law->step(observation).count()) / air_per_ip + bearer.fraction;
  const double whole = std::floor(granted);
  bearer.fraction = granted - whole;
  return Bytes(whole);
}

void Reporter::on_status(const control::feedback::BearerStatus& status, Instant now) {
  const auto ue = cell_.find(status.ue);
  if (!ue || *ue >= bearers_.size()) return;
  bearers_[*ue].active_flows = status.active_flows;
  const bool answers_another = config_.sender != 0 && status.reporter && *status.reporter != config_.sender;
  if (!bearers_[*ue].outstanding || answers_another) return;
  bearers_[*ue].outstanding->on_status(now, status, cell_.queue(*ue).counters().arrived_bytes);
}

void Reporter::on_sink_restart() {
  for (Bearer& bearer : bearers_) {
    bearer.sent.reset();
    if (bearer.outstanding) bearer.outstanding->restart();
  }
}

const control::SmvsState* Reporter::law(UeIndex ue) const {
  return bearers_[ue].law && cell_.here(ue) ? &bearers_[ue].law->state() : nullptr;
}

}  // namespace sluice::emulator

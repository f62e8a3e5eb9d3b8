// Window of the ACK-based controller. AckController of a bearer calls on_acknowledged() for each ACK of its UE and
// on_report() for each trusted report. It calls on_resumed() before something is sent with nothing in flight.
// Invariant: window_ follows from the estimates by set_window() alone, so a report takes effect with the next ACK.
// delay_based_extrapolation.cpp has window(now) and what else concerns the time between ACKs.
#include "control/ack_based/delay_based_controller.hpp"

#include <algorithm>

#include "control/ack_based/seconds.hpp"
#include "control/rule_checker.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t min_segments = 2;

/// Limit of the base delay (round trip through an empty queue) measured in slow start. On a slow link a longer one is
/// tested by a queue drain, because an outage may have lengthened it.
constexpr Duration suspicious_base_delay = milliseconds(200);
/// Transmission time of the first window above which a link counts as slow. On such a link the base delay (RTT without
/// a queue) of slow start is tested, because its packets may have waited behind each other.
constexpr Duration slow_first_window = milliseconds(100);
/// Upper limit of one part of the tolerance by which a round trip may exceed the base delay (round trip through an
/// empty queue). That part is the transmission time of two segments.
constexpr Duration max_rtt_tolerance = milliseconds(150);
/// Upper limit of one part of the tolerance by which a round trip may exceed the base delay (round trip through an
/// empty queue). That part is the transmission time of the bytes acknowledged within 1 ms. The limit is short, because
/// ACKs also arrive together if the path has become longer and the window is too small for it. A longer tolerance would
/// hide that path.
constexpr Duration max_aggregation = milliseconds(10);
/// Largest gain (factor of the window) on a steady link, whose rate hardly varies. It is smaller than on other links,
/// because the queue need not cover a rise of the rate.
constexpr double steady_gain = 1.1;
/// Largest target queueing delay on a steady link, as a share of two added times. They are the round trip through an
/// empty queue and the control loop delay (time from a new window to the data that it allows). BBR builds a queue of
/// about this length when it probes for bandwidth.
constexpr double steady_share = 0.1;
/// Multiple of the model window (which is computed from the rate) at which the refill of a drained path ends on a
/// steady link. It is above 1, because the measured rate is still too low then: the ACKs cover data sent before the
/// path was full.
constexpr double steady_refill = 2;
/// Share of a steady link's target queue that must exist, so that the smaller window for steady links is used. With a
/// shorter queue the sender may limit the rate, so the link need not be steady.
constexpr double standing_share = 0.5;
/// Divisor of the window's growth near the end of a refill, when the window fills the path and a queue begins to form.
/// Each delivered byte then raises the window by 1/`queue_round_trips` bytes, so the queue grows slowly.
constexpr std::int64_t queue_round_trips = 4;
/// Longest queue with which a link counts as steady, as a multiple of the target queue of a varying link. A longer
/// queue contains data of other senders.
constexpr double longest_standing = 1.25;
/// Number of round trips after slow start, a queue drain or a refill in which the detection of steady links ignores the
/// rate. The sender has limited the rate in these phases. A round trip here includes the control loop delay (time from
/// a new window to the data that it allows).
constexpr std::int64_t loops_to_ignore = 3;
/// Longest time after slow start, a queue drain or a refill in which the detection of steady links ignores the rate.
/// The sender has limited the rate in these phases.
constexpr Duration longest_to_ignore = std::chrono::seconds(1);
/// Factor of rate × ACK delay (time that an ACK waits for the uplink) in the formula of the window. The link continues
/// to transmit in this time. The value was chosen on recorded links as a compromise between link use and delay.
constexpr double ack_delay_gain = 1.35;
/// Share by which the target queue is reduced while the window grows between late ACKs. That growth keeps data in the
/// queue, so the target need not.
constexpr double reference_for_gap = 0.5;
/// Share by which the target queue is reduced while the window grows in the pauses of a bursty link. That growth keeps
/// data in the queue, so the target need not.
constexpr double reference_for_bursts = 0.25;
/// Factor in the formula of the window, used if the UE has no usable timestamps. It multiplies the mean number of bytes
/// acknowledged within 1 ms, less the bytes of one ACK or two segments (the larger). Without timestamps, ACKs that
/// arrive together show that the uplink delays ACKs, but not for how long.
constexpr double aggregation_unexplained = 1.5;
/// Mean number of segments per ACK above which the UE does not acknowledge each segment. Such a UE may delay the ACK of
/// a single segment (RFC 9293 section 3.8.6.3).
constexpr double prompt_ack_stretch = 1.25;
/// Limit of the delivery rate while a queue shared with other UEs is drained, as a multiple of the bytes in flight per
/// round trip. Bursts of ACKs can raise the measured rate above this limit.
constexpr double drain_rate_margin = 1.25;
/// Smallest number of segments in flight with which times without ACKs can show that UEs share a queue. With fewer
/// segments the window itself causes such times.
constexpr std::int64_t min_shared_segments = 6;
/// Multiple of the transmission time of the newly acknowledged bytes. Only a longer time without ACKs can show that UEs
/// share a queue.
constexpr std::int64_t counted_transmissions = 2;
/// Largest time by which data may seem to have been delivered before data that was acknowledged earlier. Connections of
/// one UE estimate one-way delays separately, so their estimates differ. A sample with a larger difference is not used
/// for the rate.
constexpr Duration clock_tolerance = milliseconds(30);

/// Returns how long a link of `rate` bytes/s needs for `queue` bytes; zero at rate zero. The result is at most 10⁶ s,
/// because a Node-B report may contain any queue length.
Duration time_for(Bytes queue, double rate) {
  constexpr double longest = 1e6;
  return rate > 0 ? from_seconds(lesser(static_cast<double>(queue.count()) / rate, longest)) : Duration::zero();
}

/// True if the base delay `base` (RTT without a queue) measured in slow start may be too long. Its packets may have
/// waited for an outage or behind each other. `first_window` is the time in which the link transmits the first window.
/// Later packets do not correct the base delay, because the window keeps a queue of the same length.
bool may_have_waited(Duration base, Duration first_window) {
  return first_window > slow_first_window && (base > suspicious_base_delay || base < first_window);
}

/// True if other UEs have data in this UE's queue.
bool is_shared(const SharedQueueDetector& queue) {
  return queue.rate_memory() > Duration::zero();
}

}  // namespace

std::vector<Violation> validate(const DelayBasedParameters& p) {
  RuleChecker check;
  using Severity = Violation::Severity;
  check.require(p.reference, p.reference > Duration::zero(), Severity::error, "reference > 0",
                print("reference = ", to_seconds(p.reference), " s"));
  check.require(p.reference_share, p.reference_share >= 0 && p.reference_share <= 4, Severity::error,
                "0 ≤ reference share ≤ 4", print("reference share = ", p.reference_share));
  check.require(p.gain, p.gain >= 1 && p.gain <= 4, Severity::error, "1 ≤ gain ≤ 4", print("gain = ", p.gain));
  check.require(p.memory, p.memory > Duration::zero(), Severity::error, "memory > 0",
                print("memory = ", to_seconds(p.memory), " s"));
  check.require(p.ack_aggregation_share, p.ack_aggregation_share >= 0 && p.ack_aggregation_share <= 2, Severity::error,
                "0 ≤ ack_aggregation_share ≤ 2", print("ack_aggregation_share = ", p.ack_aggregation_share));
  check.require(p.segment, p.segment > Bytes(0), Severity::error, "segment > 0",
                print("segment = ", p.segment.count(), " B"));
  check.require(p.initial, p.initial >= p.segment * min_segments, Severity::error, "initial ≥ 2 segments",
                print("initial = ", p.initial.count(), " B"));
  check.require(p.restart_after_idle, p.restart_after_idle > Duration::zero(), Severity::error,
                "restart_after_idle > 0", print("restart_after_idle = ", to_seconds(p.restart_after_idle), " s"));
  return check.take();
}

DelayBasedController::DelayBasedController(const DelayBasedParameters& parameters)
    : losses_(static_cast<double>(parameters.segment.count())),
      parameters_(&parameters),
      slow_start_(static_cast<double>(parameters.initial.count())),
      delivery_(parameters.memory) {
  refuse_errors(validate(parameters));
  set_window();
}

void DelayBasedController::adopt(const DelayBasedController& before) {
  const DelayBasedParameters* const own = parameters_;
  *this = before;
  parameters_ = own;
}

void DelayBasedController::on_resumed(Instant now) {
  if (idle() && now - last_ack_ <= 2 * control_loop_delay_) return;  // a round has ended, which is no pause
  min_rtt_.cancel_drain();                                           // the controlled traffic has no queue now
  slow_start_.stop_refilling();
  all_lost_ = !idle();
  if (idle() && has_ack_ && now - last_ack_ >= parameters_->restart_after_idle) {
    delivery_.restart();
    min_rtt_.forget();
    bursty_link_ = false;
    standing_delay_.forget();
    path_step_.forget();
    shared_queue_ = {};
    delivery_.set_memory(parameters_->memory);
    steady_link_.forget();
    busy_link_.forget();
    losses_.forget();
    slow_start_.search(static_cast<double>(parameters_->initial.count()));
  }
  set_window();
}

void DelayBasedController::adopt_in_flight(Bytes in_flight) {
  slow_start_.raise_window(in_flight);
  set_window();
}

/// Updates BusyLinkFloor, the smallest window while the UE uploads. `silence` is the time since the last ACK.
/// `is_delay_known` is true if the UE's timestamps show how long this ACK has waited for the uplink. The rest of its
/// round trip then belongs to the downlink.
void DelayBasedController::update_busy_link(const AckSample& ack_sample, Duration silence, bool is_delay_known) {
  const bool is_wait_known = is_delay_known && ack_sample.round_trip > Duration::zero();
  const Duration wait = greater(ack_sample.round_trip - base_delay(), Duration::zero());
  const bool fills = ack_sample.in_flight + ack_sample.delivered >= window_ * 3 / 4;
  const BusyLinkFloor::Sample sample{.now = ack_sample.now,
                                     .since = silence,
                                     .delivered = ack_sample.delivered,
                                     .in_flight = ack_sample.in_flight,
                                     .lost = ack_sample.lost,
                                     .uploaded = ack_sample.uploaded,
                                     .is_limited = ack_sample.window_limited || fills,
                                     .wait = is_wait_known ? wait : Duration(-1)};
  if (busy_link_.on_sample(sample)) [[unlikely]]
    busy_link_.end_round(sample, reference_delay());
}

/// True if round trips do not show the downlink's queue: the UE uploads, and timestamps do not show for how long its
/// ACKs have waited.
bool DelayBasedController::is_delay_unattributed() const {
  return busy_link_.uploads() && !ack_delay_.is_known();
}

/// Returns the part of the time since the last ACK in which round trips were observed. Of a long time without ACKs only
/// a part counts, because the rest may be an outage.
Duration DelayBasedController::observed_since_ack(Instant now) const {
  if (!has_ack_) [[unlikely]]
    return Duration::zero();
  const Duration ack_gap = now - last_ack_;
  return ack_gap <= max_observed_gap ? ack_gap
                                     : lesser(ack_gap, greater(base_delay() + reference_delay(), max_observed_gap));
}

void DelayBasedController::on_acknowledged(const AckSample& raw) {
  AckSample ack_sample = raw;
  ack_sample.round_trip = ack_delay_.adjust_rtt(raw, raw.now - last_ack_, delivery_);
  const Duration observed = observed_since_ack(ack_sample.now);
  const Duration silence = has_ack_ ? ack_sample.now - last_ack_ : Duration::zero();
  const double earlier_srtt = cross_traffic_.srtt();
  cross_traffic_.on_bytes(ack_sample.delivered, ack_sample.cross_traffic, silence);
  if (ack_sample.round_trip > Duration::zero()) cross_traffic_.on_round_trip(ack_sample.round_trip);
  last_ack_ = ack_sample.now;
  has_ack_ = true;
  all_lost_ = false;
  in_flight_ = ack_sample.in_flight;
  flows_ = ack_sample.flows == 0 ? 1 : ack_sample.flows;
  reference_factor_ = ack_sample.reference_factor;
  control_loop_delay_ += control_loop_delay_ > Duration::zero()
                             ? (ack_sample.control_loop_delay - control_loop_delay_) / 16
                             : ack_sample.control_loop_delay;
  const bool refilling = slow_start_.refilling();
  const Instant came = ack_sample.now - ack_delay_.newest();
  // The uplink may delay ACKs and release them together, for example behind an upload. Only times without deliveries
  // show a shared queue.
  detect_shared_queue(ack_sample, greater(lesser(silence, came - delivered_at_), Duration::zero()), earlier_srtt);
  detect_longer_path(ack_sample, silence);
  detect_shorter_path(ack_sample);
  record_round_trip(ack_sample, observed);
  if (draining() && is_shared(shared_queue_)) [[unlikely]] {
    // Other UEs drain at the same time, so the ACKs may arrive at the rate of the whole queue.
    delivery_.on_idle();
  } else if (came + clock_tolerance >= delivered_at_) {
    // Connections have clock estimates of their own, so a delivery may seem to precede the newest one. A small
    // difference counts as none. With a larger one the sample shows no rate, because one of the two clocks was wrong.
    delivered_at_ = greater(delivered_at_, came);
    const bool link_limited = is_link_limited(ack_sample);
    delivery_.on_delivered(delivered_at_, ack_sample.delivered, link_limited, ack_sample.ack_stretch);
    if (in_slow_start() || draining() || slow_start_.refilling()) {
      const Duration loop = greater(srtt(), base_delay()) + control_loop_delay_;
      steady_link_.ignore_until(ack_sample.now + lesser(loops_to_ignore * loop, longest_to_ignore));
    } else if (link_limited && delivery_.has_sample() && !path_step_.is_suspected()) {
      steady_link_.on_rate(ack_sample.now, observed, delivery_.rate().bytes_per_second(),
                           control_loop_delay_ > Duration::zero());
    }
  }
  if (idle() && !ack_sample.window_limited) delivery_.on_idle();
  update_busy_link(ack_sample, silence, raw.ack_delay >= Duration::zero());
  if (in_slow_start()) advance_slow_start(ack_sample);
  const bool is_queue_unknown = cross_traffic_.has_competition() || is_delay_unattributed();
  if (is_queue_unknown) [[unlikely]]
    min_rtt_.mark_fresh();
  update_loss_bound(ack_sample);
  update_base_delay(ack_sample, is_queue_unknown);
  refill(ack_sample, refilling ? silence : Duration::zero());
  update_bursty_link();
  set_window();
}

/// Detects whether other UEs have data in this UE's queue. The delivery rate is then averaged over a round trip,
/// because ACKs arrive in one burst per round trip. `silence` is the time without deliveries before this sample, and
/// `srtt` the smoothed round trip in s before it.
void DelayBasedController::detect_shared_queue(const AckSample& ack_sample, Duration silence, double srtt) {
  if (silence <= parameters_->memory && !is_shared(shared_queue_)) [[likely]]
    return;
  // A window of few segments leaves silences by itself, for example after the path has become longer.
  const bool is_small = ack_sample.in_flight + ack_sample.delivered < parameters_->segment * min_shared_segments;
  const Duration transmissions = delivery_.has_sample() && !is_small
                                     ? counted_transmissions * delivery_.rate().time_for(ack_sample.delivered)
                                     : silence;
  shared_queue_.on_ack({.now = ack_sample.now,
                        .silence = silence,
                        .counted = greater(parameters_->memory, transmissions),
                        .round_trip = ack_sample.round_trip,
                        .srtt = from_seconds(srtt),
                        .base_delay = base_delay()});
  delivery_.set_memory(greater(parameters_->memory, shared_queue_.rate_memory()));
}

/// True if the link, and not the sender, limits the delivery rate of the sample: the window is full, or the
/// acknowledged data has waited in the radio queue. False while the path may have become longer. False too in the
/// second phase of a queue drain, in which the window limits the rate.
bool DelayBasedController::is_link_limited(const AckSample& ack_sample) const {
  if (min_rtt_.probing() || path_step_.is_suspected()) return false;
  if (ack_sample.window_limited && ack_delay_.newest() <= base_delay() && !slow_start_.refilling()) return true;
  const Duration waited = min_rtt_.known() ? ack_sample.round_trip - base_delay() : Duration::zero();
  return waited > parameters_->reference && waited > reference_delay();
}

/// Updates the base delay (RTT without a queue) from a sample's round trip. Requests a drain of the queue if round
/// trips stay long although fewer bytes are in flight. `observed` is the time since the previous sample, without
/// outages.
void DelayBasedController::record_round_trip(const AckSample& ack_sample, Duration observed) {
  if (ack_sample.round_trip <= Duration::zero()) return;
  if (!min_rtt_.known()) [[unlikely]]
    min_rtt_.confirm(ack_sample.now);
  min_rtt_.record(ack_sample.round_trip);
  if (!draining() && !slow_start_.refilling()) steady_link_.on_round_trip(observed, in_seconds(ack_sample.round_trip));
  const bool is_wanted = !ack_sample.window_limited || ack_sample.round_trip < base_delay() + parameters_->reference;
  // The common case is decided first, because the tolerance takes divisions.
  if (is_wanted && min_rtt_.is_near(ack_sample.round_trip)) {
    standing_delay_.forget();
    return min_rtt_.mark_fresh();
  }
  const Duration tolerance = rtt_tolerance();
  const Duration most = from_seconds(parameters_->gain * in_seconds(base_delay() + reference_delay())) + tolerance;
  min_rtt_.add_sample(ack_sample.round_trip, observed, tolerance, is_wanted ? Duration::max() : most);
  if (is_wanted || ack_sample.round_trip <= most || draining() || in_slow_start() || cross_traffic_.has_competition())
    return standing_delay_.restart();
  standing_delay_.adapt(ack_sample.round_trip, min_rtt_.candidate() + tolerance, ack_sample.delivered);
  const StandingDelayDetector::Sample sample{.now = ack_sample.now,
                                             .round_trip = ack_sample.round_trip,
                                             .in_flight = ack_sample.in_flight + ack_sample.delivered,
                                             .rate = delivery_.rate().bytes_per_second(),
                                             .above_target_for = min_rtt_.above_target_for()};
  if (const auto standing_delay = standing_delay_.on_long(sample))
    min_rtt_.suspect_longer(ack_sample.now, *standing_delay);
}

/// Returns by how much a round trip through an empty queue may exceed the base delay, because packets or ACKs arrive in
/// bursts.
Duration DelayBasedController::rtt_tolerance() const {
  if (!delivery_.has_sample()) return Duration::zero();
  const Duration pair = lesser(delivery_.max_rate().time_for(parameters_->segment * min_segments), max_rtt_tolerance);
  return greater(pair, lesser(delivery_.max_rate().time_for(delivery_.ack_aggregation()), max_aggregation));
}

Duration DelayBasedController::time_in_queue(Bytes queue) const {
  return time_for(queue, cross_traffic_.total_rate());
}

Duration DelayBasedController::min_time_in_queue(Bytes queue) const {
  if (!delivery_.has_sample()) return Duration::zero();
  return time_for(queue, greater(cross_traffic_.total_rate(), delivery_.rate().bytes_per_second()));
}

Duration DelayBasedController::feedback_delay() const {
  if (!min_rtt_.known() || !delivery_.has_sample()) return Duration::zero();
  const Duration aggregation = lesser(delivery_.rate().time_for(delivery_.ack_aggregation()), max_aggregation);
  return base_delay() + greater(aggregation, ack_delay_.mean());
}

/// True if a Node-B's report was received within the last 100 ms. With reports that are this frequent, a longer path is
/// detected without a drain of the queue.
bool DelayBasedController::is_reported(Instant now) const {
  return reported_at_ != Instant{} && now - reported_at_ <= max_observed_gap;
}

/// Grows the slow-start window. Ends slow start when a packet has waited longer than the target delay, or the rate has
/// stopped growing. The second test is needed, because a short buffer drops packets before any of them waits that long.
void DelayBasedController::advance_slow_start(const AckSample& ack_sample) {
  if (ack_sample.window_limited) slow_start_.on_delivered(ack_sample.delivered);
  if (!min_rtt_.known()) return;
  const double rtt = in_seconds(ack_sample.round_trip);
  // A cheap condition first: it follows from the second one, because reference_delay() ≥ reference.
  const bool may_be_long = ack_sample.round_trip > base_delay() + parameters_->reference;
  if (may_be_long && rtt > parameters_->gain * in_seconds(base_delay() + reference_delay())) {
    // When this segment was sent, half as much was in flight as now. Those bytes were delivered in its round trip.
    delivery_.seed(ack_sample.now, Rate::bytes_per_second(static_cast<double>(ack_sample.in_flight.count()) / 2 / rtt));
    exit_slow_start();
  } else if (slow_start_.is_full_pipe(ack_sample.now, delivery_.rate(), from_seconds(cross_traffic_.srtt()),
                                      ack_sample.window_limited)) {
    exit_slow_start();
  }
}

/// Ends slow start. If its packets may have waited in a queue, the base delay (RTT without a queue) that it has
/// measured counts as unvalidated. A drain, which empties the queue, must then confirm it.
void DelayBasedController::exit_slow_start() {
  slow_start_.end();
  if (!min_rtt_.was_raised()) {
    min_rtt_.mark_validated(!may_have_waited(base_delay(), delivery_.rate().time_for(parameters_->initial)));
    return;
  }
  // The raised base delay contains the time of two segments on the air, which is known only now.
  min_rtt_.clamp(delivery_.rate().time_for(parameters_->segment * min_segments));
}

/// Returns the number of bytes that may be in flight in a drain, which empties the queue. It is the sum of two amounts:
/// the bytes whose ACKs wait for the uplink, and the larger of a minimum and a part of rate × base delay.
///
/// - The part is 1/2, so that a base delay of up to twice the true one is corrected. It is 3/4 if the last drain has
///   confirmed the base delay, because that costs less use of the link and still detects an error.
/// - The minimum is two segments, because the UE may delay the ACK of a single segment. For connections that pass the
///   proxy unsplit it is two segments each.
/// - An unvalidated base delay may be wrong by any factor, so only the minimum is in flight.
double DelayBasedController::drain_window() const {
  const std::int64_t apart = control_loop_delay_ > Duration::zero() ? flows_ : 1;
  const double least = static_cast<double>((parameters_->segment * min_segments * apart).count());
  if (min_rtt_.is_unvalidated()) return least;
  double rate = delivery_.rate().bytes_per_second();
  if (is_shared(shared_queue_)) rate = lesser(rate, drain_rate_);
  const double part = min_rtt_.is_confirmed() ? 0.75 : 0.5;
  return greater(least, part * rate * in_seconds(base_delay())) + rate * in_seconds(ack_delay_.newest());
}

/// Returns the values of an ACK that MinRttEstimator::on_drained() needs in a drain (which empties the queue). Marks an
/// ACK that may be delayed: a UE that mostly acknowledges several segments at once may delay the ACK of a single one
/// (RFC 9293 section 3.8.6.3).
MinRttEstimator::Probe DelayBasedController::probe_of(const AckSample& ack_sample) const {
  const double segment = static_cast<double>(parameters_->segment.count());
  const bool delays = static_cast<double>(delivery_.ack_stretch().count()) > prompt_ack_stretch * segment;
  const bool may_be_delayed =
      delays && static_cast<double>(ack_sample.delivered.count()) < prompt_ack_stretch * segment;
  return {ack_sample.now, ack_sample.round_trip, ack_sample.in_flight, may_be_delayed, flows_ == 1};
}

/// Begins a drain (emptying of the queue) when one is due, and ends it when the base delay (RTT without a queue) is
/// measured. If every round trip of 20 s was longer than the target queue allows, replaces the base delay without a
/// drain. If `is_queue_unknown` is true, drains are cancelled, because round trips then do not show the queue of
/// controlled traffic.
void DelayBasedController::update_base_delay(const AckSample& ack_sample, bool is_queue_unknown) {
  if (!in_slow_start()) {
    if (const auto least = min_rtt_.forced_reset_value()) [[unlikely]]
      return raise_min_rtt(*least);
  }
  if (is_queue_unknown) [[unlikely]] {
    standing_delay_.forget();
    return min_rtt_.cancel_drain();
  }
  const bool may_drain = !in_slow_start() && ack_sample.window_limited && delivery_.has_sample();
  if (draining()) [[unlikely]] {
    if (min_rtt_.is_routine(ack_sample.now)) return begin_drain(ack_sample);
    if (min_rtt_.on_drained(probe_of(ack_sample), drain_window(), rtt_tolerance())) end_drain(ack_sample.now);
  } else if (may_drain && min_rtt_.is_stale(ack_sample.now) &&
             (min_rtt_.is_unvalidated() || !is_reported(ack_sample.now))) {
    begin_drain(ack_sample);
    slow_start_.end();
  }
}

/// Begins a drain, which empties the queue. Other UEs that share the queue drain it too. Their earlier bytes leave it
/// within one round trip, which is assumed to be the shorter of the mean and the newest round trip.
///
/// Sets the limit of the rate in drain_window() for a queue shared with other UEs, because bursts of ACKs raise the
/// mean rate. The limit is 1.25 times the bytes in flight per round trip.
void DelayBasedController::begin_drain(const AckSample& ack_sample) {
  const Duration srtt = this->srtt();
  if (!draining()) {
    const auto in_flight = static_cast<double>((ack_sample.in_flight + ack_sample.delivered).count());
    drain_rate_ = drain_rate_margin * in_flight / in_seconds(greater(srtt, ack_sample.round_trip));
  }
  min_rtt_.begin_drain(ack_sample.now,
                       ack_sample.round_trip > Duration::zero() ? lesser(srtt, ack_sample.round_trip) : srtt);
}

/// Ends a drain, which has emptied the queue. Begins the refill of the path, and updates the base delay (RTT without a
/// queue) from the measured round trips.
void DelayBasedController::end_drain(Instant now) {
  slow_start_.refill(drain_window());
  // On a link that has become slower a probe takes longer on the air.
  const Duration on_air = lesser(delivery_.rate().time_for(parameters_->segment), max_rtt_tolerance);
  switch (min_rtt_.finish_probe(now, greater(rtt_tolerance(), on_air))) {
    case MinRttEstimator::DrainResult::confirmed:
      standing_delay_.forget();
      break;
    case MinRttEstimator::DrainResult::unclear:
      break;
    case MinRttEstimator::DrainResult::as_suspected:
      standing_delay_.set_min_window();
      break;
    case MinRttEstimator::DrainResult::longer:
      raise_min_rtt(min_rtt_.candidate());
      break;
  }
}

/// Refills the path after a drain has emptied it, or after the path has become longer. The window grows by the
/// delivered bytes up to the model window, which is computed from the rate. It does not jump there, because all its
/// data would be sent in one burst. `silence` is the time since the previous ACK, or zero if this ACK has begun the
/// refill.
///
/// On a path that has become longer, a paced refill grows by the bytes that the link carries in `silence`, less the
/// delivered bytes. Once the window fills the path, it grows more slowly. The refill ends when the radio queue is about
/// half as long as the target on steady links.
void DelayBasedController::refill(const AckSample& ack_sample, Duration silence) {
  if (!slow_start_.refilling()) [[likely]]
    return;
  if (paces_refill()) {
    const double rate = delivery_.rate().bytes_per_second();
    const double bdp = rate * to_seconds(base_delay());
    const double target = steady_window(rate, reference_factor_) + beyond_bdp(LossBound::unbounded);
    if (slow_start_.window() < bdp) {
      const Bytes carried = delivery_.rate().in(lesser(silence, base_delay()));
      slow_start_.on_delivered(greater(carried - ack_sample.delivered, Bytes{}));
    } else {
      if (slow_start_.window() < target) slow_start_.on_delivered(ack_sample.delivered / queue_round_trips);
      if (ack_sample.round_trip > Duration::zero())
        steady_link_.on_round_trip(lesser(silence, max_observed_gap), to_seconds(ack_sample.round_trip));
      const bool stands = rate * steady_link_.min_round_trip() - bdp >= standing_share * (target - bdp);
      if (stands || steady_link_.steadiness() <= 0) slow_start_.end();
    }
  } else {
    slow_start_.on_delivered(ack_sample.delivered);
    const double enough = steady_link_.steadiness() > 0 ? steady_refill : 1;
    if (slow_start_.window() >= enough * model_window()) slow_start_.end();
  }
  if (!slow_start_.refilling()) min_rtt_.clamp(Duration::zero());
}

/// Accepts `base` as the longer base delay (round trip through an empty queue). Restarts slow start from the model
/// window, because the earlier window was too small and limited the measured rate.
void DelayBasedController::raise_min_rtt(Duration base) {
  slow_start_.search(model_window());
  standing_delay_.forget();
  min_rtt_.raise(base);
}

/// Returns the target queueing delay. It grows with two delays: the base delay (RTT without a queue) and the control
/// loop delay (time from a new window to the data that it allows). If they are longer, changes of the rate are detected
/// later, so the queue must contain more bytes.
Duration DelayBasedController::reference_delay() const {
  return greater(parameters_->reference,
                 from_seconds(parameters_->reference_share * in_seconds(base_delay() + control_loop_delay_)));
}

/// Updates the bound that losses set on the window (LossBound). A loss that lowers the bound ends slow start, because
/// the buffer is full.
void DelayBasedController::update_loss_bound(const AckSample& ack_sample) {
  const bool may_lower = losses_.may_lower(ack_sample.lost) && min_rtt_.known();
  const LossBound::Sample sample{.now = ack_sample.now,
                                 .delivered = ack_sample.delivered,
                                 .lost = ack_sample.lost,
                                 .in_flight = ack_sample.in_flight,
                                 .base_delay = base_delay(),
                                 .beyond_bdp = may_lower ? beyond_bdp_under_loss() : 0};
  if (losses_.on_acknowledged(sample) && in_slow_start()) [[unlikely]]
    exit_slow_start();
}

/// Returns the bytes that must be in flight in addition to rate × base delay (RTT without a queue) while losses bound
/// the window. They include what the link carries while ACKs wait for the uplink, for at most half of the base delay.
/// Cross traffic may cause a longer wait.
double DelayBasedController::beyond_bdp_under_loss() const {
  return beyond_bdp(delivery_.rate().bytes_per_second() * in_seconds(base_delay()) / 2);
}

/// Returns the model window in bytes: gain · rate · (base delay + factor · target queueing delay) + beyond_bdp(). The
/// factor is below 1 while a short flow is active, and while the window grows between ACKs. On a steady link the result
/// approaches steady_window(). It is at least StandingDelayDetector::min_window(). The base delay is the RTT without a
/// queue.
double DelayBasedController::model_window() const {
  const double saved = extrapolates() ? reference_for_gap : bursty_link_ ? reference_for_bursts : 0;
  const double factor = (1 - saved) * reference_factor_;
  const double reference = greater(in_seconds(parameters_->reference),
                                   parameters_->reference_share * in_seconds(base_delay() + control_loop_delay_));
  const double wanted = in_seconds(base_delay()) + factor * reference;
  const double rate = delivery_.rate().bytes_per_second();
  const double beyond = beyond_bdp(LossBound::unbounded);
  double window = parameters_->gain * rate * wanted;
  const double steadiness = bursty_link_ ? 0 : steady_link_.steadiness();
  if (steadiness > 0) {
    const double steady = steady_window(rate, factor);
    const double bdp = rate * in_seconds(base_delay());
    const double standing = rate * steady_link_.min_round_trip() - bdp;
    const bool is_own_queue =
        standing >= standing_share * (steady + beyond - bdp) && standing <= longest_standing * (window + beyond - bdp);
    if (is_own_queue) window += steadiness * (steady - window);
  }
  return greater(window + beyond, standing_delay_.min_window());
}

/// Returns the window of a steady link in bytes, without the bytes of beyond_bdp(): gain · rate · (base delay + factor
/// · target queueing delay). `rate` is in bytes/s. `factor` (0 … 1) shortens the queue, for example while packets of a
/// short flow wait in it. Gain and target are those of steady links. The base delay is the RTT without a queue.
double DelayBasedController::steady_window(double rate, double factor) const {
  const double gain = lesser(steady_gain, parameters_->gain);
  const double share = lesser(steady_share, parameters_->reference_share);
  const double loop = in_seconds(base_delay() + control_loop_delay_);
  const double reference = greater(in_seconds(parameters_->reference), share * loop);
  return gain * rate * (in_seconds(base_delay()) + factor * reference);
}

/// Returns the bytes that must be in flight because ACKs arrive together, or because one ACK acknowledges more than
/// `segments`, the bytes of two segments.
double DelayBasedController::beyond_ack_pairs(double segments) const {
  const auto aggregation = static_cast<double>(delivery_.ack_aggregation().count());
  const auto ack_stretch = static_cast<double>(delivery_.ack_stretch().count());
  const double ahead = parameters_->ack_aggregation_share * greater(aggregation - segments, 0.0);
  const double late =
      ack_delay_.is_known() ? 0 : aggregation_unexplained * greater(aggregation - greater(ack_stretch, segments), 0.0);
  // The link needs all bytes of an ACK stretch to continue until the next ACK. Timestamps do not show that delay.
  const double stretched = greater(ack_stretch - segments, 0.0);
  return greater(greater(ahead, late), stretched);
}

/// Returns the bytes that the UE may leave unacknowledged on each connection after the first. It is more for
/// connections that pass the proxy unsplit, because none can use another one's window.
double DelayBasedController::unacknowledged_of_each() const {
  const auto segment = static_cast<double>(parameters_->segment.count());
  const auto ack_stretch = static_cast<double>(delivery_.ack_stretch().count());
  return control_loop_delay_ > Duration::zero() ? greater(segment, ack_stretch - segment) : segment;
}

/// Returns the bytes that must be in flight in addition to gain · rate · (base delay + target queueing delay). They are
/// two segments, data that the UE may leave unacknowledged on further connections, and data whose ACKs come late or
/// together. For late ACKs at most `ack_delay_bound` bytes are added. The base delay is the RTT without a queue.
double DelayBasedController::beyond_bdp(double ack_delay_bound) const {
  const auto segments = static_cast<double>((parameters_->segment * min_segments).count());
  double waiting = 0;
  // Mostly each ACK acknowledges two segments and comes alone, so no bytes are needed for ACKs that come together.
  if (delivery_.acknowledges_more_than(segments)) waiting = beyond_ack_pairs(segments);
  const double delayed = flows_ > 1 ? unacknowledged_of_each() * (flows_ - 1) : 0;
  const double rate = delivery_.rate().bytes_per_second();
  const Duration latest = ack_delay_.max();
  if (latest > Duration::zero()) {
    const Duration newest = lesser(ack_delay_.newest(), latest);
    const double late_for = greater(ack_delay_gain * in_seconds(newest), in_seconds(latest - base_delay() / 2));
    waiting = greater(waiting, lesser(rate * late_for, ack_delay_bound));
  }
  return segments + delayed + waiting;
}

/// Computes the window (bytes that may be in flight): the model window, which is computed from the rate, and then its
/// bounds. They belong to slow start, uploads, losses, cross traffic, and drain and refill of the queue. Each bound may
/// override those before it.
void DelayBasedController::set_window() {
  const auto least = static_cast<double>((parameters_->segment * min_segments).count());
  double window = model_window();
  if (in_slow_start()) window = greater(slow_start_.window(), window);
  if (busy_link_.uploads()) [[unlikely]]
    window = greater(window, busy_link_.window());
  const double bound = losses_.is_set() ? losses_.bound_at(last_ack_, beyond_bdp_under_loss()) : LossBound::unbounded;
  loss_limited_ = window > bound;
  window = lesser(window, bound);
  // Cross traffic causes losses, too. Without this minimum it would take the share that each loss removes here.
  if (cross_traffic_.has_competition()) [[unlikely]]
    window = greater(window, least + cross_traffic_.fair_share(flows_));
  if (draining()) [[unlikely]]
    window = lesser(window, drain_window());
  if (slow_start_.refilling()) [[unlikely]]
    window = lesser(window, slow_start_.window());
  constexpr double most = 1e12;
  window_ = Bytes(all_lost_ ? least : lesser(greater(window, least), most));
}

Bytes DelayBasedController::queued(Bytes in_flight) const {
  return greater(Bytes{}, in_flight - delivery_.rate().in(base_delay()));
}

Bytes DelayBasedController::reference() const {
  return greater(window_ - delivery_.rate().in(base_delay()), Bytes{});
}

Bytes DelayBasedController::upstream_bytes(Duration control_loop_delay) const {
  if (draining() && min_rtt_.is_unvalidated()) return Bytes{};
  return delivery_.rate().in(draining() ? control_loop_delay / 2 : control_loop_delay);
}

}  // namespace sluice::control

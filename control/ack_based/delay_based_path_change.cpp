// Changes of the path without a drain: a step that silences of the ACKs show, a shorter round trip, and a longer one
// that reports leave unexplained. on_acknowledged() calls detect_longer_path() and detect_shorter_path() for each ACK.
// Invariant: a longer path is accepted only if segments that were sent after the change confirm it.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;

/// Smallest ratio of the UE's recent mean rate to the link's rate with which a Node-B's report is compared with ACKs.
/// With a lower mean rate there was an outage, after which reports and round trips do not match.
constexpr double min_rate_share = 0.7;
/// Shortest time for which the queue in each report of a Node-B must be too short to explain the round trips. The base
/// delay (RTT without a queue) is then raised. For about this time after a change, the mean rates may still describe
/// the earlier link.
constexpr Duration min_unexplained_for = milliseconds(400);
/// Number of base delays (RTTs without a queue) that must pass, too, before the base delay is raised. The longer of
/// this time and `min_unexplained_for` applies.
constexpr std::int64_t unexplained_round_trips = 8;
/// Share of the path's capacity (rate × round trip). If at least this share is in flight, a longer path would not make
/// the link idle. A time without ACKs then has another cause.
constexpr double filled = 0.95;
/// Multiple of the mean gap between ACKs. A time without ACKs up to this multiple counts as usual, so it does not
/// indicate a longer path.
constexpr std::int64_t usual_gaps = 3;
/// Multiple of the mean gap between ACKs in which each gap has its length as weight. A time without ACKs up to this
/// multiple counts as usual, so it does not indicate a longer path.
constexpr std::int64_t usual_idle_gaps = 2;
/// Replaces `usual_gaps`, the multiple of the mean gap between ACKs up to which a gap counts as usual, if the link's
/// rate does not vary. It is smaller, because on a slow link few gaps exceed three mean gaps even after a step to a
/// longer path.
constexpr std::int64_t usual_steady_gaps = 2;

}  // namespace

/// Accepts a longer base delay (RTT without a queue) without a drain if the path has become longer in one step
/// (PathStepDetector). The path is then refilled for the earlier rate, because the link's rate has not changed.
/// `silence` is the time without ACKs before this sample. On a link whose rate varies silences are ignored, because
/// they have other causes there. They are also ignored if at least `filled` of the path's capacity is in flight.
void DelayBasedController::detect_longer_path(const AckSample& ack_sample, Duration silence) {
  if (in_slow_start() || bursty_link_ || cross_traffic_.has_competition() || !min_rtt_.known())
    return path_step_.forget();
  // End to end more may be in flight than the window, because the path to the server has emptied, too.
  const Bytes in_flight = lesser(ack_sample.in_flight + ack_sample.delivered, window_);
  const double rate = delivery_.rate().bytes_per_second();
  const bool fills = static_cast<double>(in_flight.count()) >= filled * rate * to_seconds(ack_sample.round_trip);
  if (fills && ack_sample.round_trip > Duration::zero() && path_step_.is_suspected()) path_step_.forget();
  const double steadiness = steady_link_.steadiness();
  const Duration usual = greater(delivery_.gap() * (steadiness >= 1 ? usual_steady_gaps : usual_gaps),
                                 delivery_.idle_gap() * usual_idle_gaps);
  const auto step = path_step_.on_ack({.now = ack_sample.now,
                                       .round_trip = ack_sample.round_trip,
                                       .base_delay = base_delay(),
                                       .silence = silence,
                                       .usual = usual,
                                       .delivered = ack_sample.delivered,
                                       .rate = rate,
                                       .may_be_delayed = silence >= usual && probe_of(ack_sample).may_be_delayed,
                                       .steady = steadiness > 0 && !fills});
  if (!step || step->base_delay <= base_delay()) [[likely]]
    return;
  delivery_.seed(ack_sample.now, Rate::bytes_per_second(step->rate));
  min_rtt_.raise(step->base_delay);
  min_rtt_.mark_changed(ack_sample.now);
  standing_delay_.forget();
  slow_start_.refill(static_cast<double>((ack_sample.in_flight + ack_sample.delivered).count()));
}

/// Requests a drain if a round trip is clearly shorter than the base delay (round trip through an empty queue). The
/// path has then become shorter, and has a queue. ACKs that arrive together while round trips become shorter also cause
/// a request. In both cases the ACK is not used to measure the rate. Nothing is done with several connections, because
/// their paths behind the UE may differ in length. On a link whose rate varies nothing is done either, because other
/// UEs in the same queue may have paused.
void DelayBasedController::detect_shorter_path(const AckSample& ack_sample) {
  if (flows_ > 1 || steady_link_.steadiness() <= 0 || in_slow_start() || draining() || !min_rtt_.known() ||
      ack_sample.round_trip <= Duration::zero())
    return;
  const bool becomes_shorter = in_seconds(ack_sample.round_trip) < steady_link_.min_round_trip();
  const bool together = becomes_shorter && delivery_.is_large_aggregation(ack_sample.now, ack_sample.delivered);
  if (ack_sample.round_trip >= base_delay() && !together) return;
  delivery_.on_idle();
  if (ack_sample.round_trip < base_delay() * 7 / 8 - milliseconds(1)) {
    min_rtt_.suspect(ack_sample.now, ack_sample.round_trip);
  } else if (together) {
    min_rtt_.request_drain(ack_sample.now);
  }
}

void DelayBasedController::on_report(Instant now, Bytes queue) {
  reported_at_ = now;
  const bool silent = idle() || now - last_ack_ > greater(base_delay() + reference_delay(), max_observed_gap);
  if (!min_rtt_.known() || in_slow_start() || silent || draining() || slow_start_.refilling() ||
      cross_traffic_.controlled_rate() <= 0)
    return;
  const Duration waited = from_seconds(cross_traffic_.srtt()) - base_delay();
  const Duration unexplained = waited - time_in_queue(queue);
  // After an outage reports are not compared, because round trips are long and reports describe another instant.
  const bool steady = cross_traffic_.controlled_rate() >= min_rate_share * delivery_.rate().bytes_per_second() ||
                      cross_traffic_.has_competition();
  if (!steady) return path_change_.forget();
  if (unexplained <= greater(rtt_tolerance() + reference_delay() / 2, waited / 2)) {
    path_change_.forget();
    return min_rtt_.confirm(now);
  }
  // Reports must agree for several round trips, because a report and a round trip describe instants up to one round
  // trip apart. A rate that changes then looks like a longer path.
  const Duration long_enough = greater(min_unexplained_for, base_delay() * unexplained_round_trips);
  if (const auto longer = path_change_.on_report(now, unexplained, long_enough)) raise_min_rtt(base_delay() + *longer);
}

}  // namespace sluice::control

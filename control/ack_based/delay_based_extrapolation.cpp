// Growth of the window between ACKs, and the probe when ACKs are overdue. AckController calls window(now) before it
// sends, and budget_available_at() to arm the bearer's timer.
// Invariant: both functions agree. At budget_available_at() the window allows a segment more, unless an ACK came.

#include <algorithm>

#include "control/ack_based/delay_based_controller.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Growth of the window between ACKs, as a share of the link's rate. The value was chosen on recorded links with a
/// scheduled uplink, as a compromise between link use and delay.
constexpr double gap_gain = 0.9;
/// Time by which the delay of the next ACK must exceed the mean ACK delay, so that growth of the window between ACKs
/// ends. The link itself may then have stalled.
constexpr Duration unusual_late = milliseconds(15);
/// Shortest interval of the timer that checks whether the window has grown by a segment since the last ACK.
constexpr Duration min_wait = milliseconds(1);
/// Minimum of the probe timeout, after which one segment may be sent although no ACK has arrived. A receiver may delay
/// an ACK for this time (RFC 8985 section 7.2).
constexpr Duration min_probe_timeout = milliseconds(200);
/// Limit of one part of the probe timeout: the time in which the link transmits all bytes in flight. At a rate near
/// zero this time has no bound.
constexpr Duration longest_carried = seconds(1);
/// Interval at which the timer checks again whether a flow can send the probe segment that tests whether the last
/// segments were lost.
constexpr Duration probe_interval = milliseconds(10);

}  // namespace

/// True if the window grows between ACKs because the uplink delays ACKs by a known time. False for connections that
/// pass the proxy unsplit, because their sender gets a new window only with an ACK.
bool DelayBasedController::extrapolates() const {
  return ack_delay_.is_significant() && control_loop_delay_ <= Duration::zero();
}

/// True in the refill of a path that has become longer, on split connections: the window then grows at the link's rate.
/// The bytes in flight fill only a small part of such a path, so growth by ACKs would take several round trips, and
/// send bursts.
bool DelayBasedController::paces_refill() const {
  return slow_start_.refilling() && min_rtt_.was_raised() && control_loop_delay_ <= Duration::zero() &&
         !loss_limited_ && !all_lost_ && !idle();
}

/// Updates whether the window grows in the pauses of a bursty link. It grows if the pauses are longer than 1.5 times
/// the target queueing delay, because the queue runs empty in such pauses. It never grows for connections that pass the
/// proxy unsplit, because their sender gets a new window only with an ACK.
void DelayBasedController::update_bursty_link() {
  bursty_link_ = delivery_.is_bursty() && control_loop_delay_ <= Duration::zero() &&
                 delivery_.idle_gap() * 2 > reference_delay() * 3;
}

/// True if the window grows between ACKs now. False in slow start, in a queue drain, and while losses bound the window.
/// False too if no bytes are in flight, or if all of them are considered lost.
bool DelayBasedController::extrapolates_in_gap() const {
  return (extrapolates() || bursty_link_) && !loss_limited_ && !in_slow_start() && !draining() && !all_lost_ && !idle();
}

/// Returns the interval after an ACK in which the window grows. If the uplink delays ACKs, the interval begins at once.
/// It ends when the delay of the next ACK would exceed the mean ACK delay by `unusual_late`. On a bursty link it begins
/// after half the mean gap between ACKs, so that data is in flight before the next burst. It then lasts as long as a
/// mean pause of the link.
DelayBasedController::AckGap DelayBasedController::ack_gap() const {
  if (extrapolates()) {
    const Duration until = ack_delay_.mean() + unusual_late - ack_delay_.newest();
    return {Duration::zero(), greater(until, Duration::zero())};
  }
  const Duration from = delivery_.gap() / 2;
  return {from, from + delivery_.idle_gap()};
}

/// Returns the number of bytes by which the window has grown when the time `lasted` has passed since the newest ACK.
Bytes DelayBasedController::extrapolated(Duration lasted) const {
  if (paces_refill()) {
    const Bytes missing = greater(delivery_.rate().in(base_delay()) - window_, Bytes{});
    return lesser(delivery_.rate().in(std::clamp(lasted, Duration::zero(), base_delay())), missing);
  }
  if (!extrapolates_in_gap()) return Bytes{};
  const auto [from, until] = ack_gap();
  return (delivery_.rate() * gap_gain).in(std::clamp(lasted, from, until) - from);
}

/// Returns the time after the newest ACK at which all bytes in flight should have been acknowledged, at least 200 ms.
/// It is the sum of three times: two round trips with the target queue, the transmission time of these bytes, and the
/// greatest ACK delay.
Duration DelayBasedController::probe_timeout() const {
  if (!min_rtt_.known() || !delivery_.has_sample() || idle() || all_lost_) return Duration::max();
  const Duration carried = lesser(delivery_.rate().time_for(greater(window_, in_flight_)), longest_carried);
  return greater(min_probe_timeout, 2 * (base_delay() + reference_delay()) + ack_delay_.max() + carried);
}

Bytes DelayBasedController::window(Instant now) const {
  const Duration ack_gap = now - last_ack_;
  const Bytes window = window_ + extrapolated(ack_gap);
  if (ack_gap < min_probe_timeout || ack_gap < probe_timeout()) return window;
  return greater(window, in_flight_) + parameters_->segment;
}

Instant DelayBasedController::budget_available_at(Instant now, Bytes in_flight) const {
  return lesser(grows_at(now, in_flight), probe_at(now, in_flight));
}

/// Returns when the growth of the window between ACKs allows one segment beyond `in_flight`; `never` if it will not.
Instant DelayBasedController::grows_at(Instant now, Bytes in_flight) const {
  const bool paced = paces_refill();
  if (!delivery_.has_sample() || !(paced || extrapolates_in_gap())) return never;
  const Bytes lacks = in_flight + parameters_->segment - window_;
  if (lacks > extrapolated(Duration::max())) return never;
  if (paced) return greater(last_ack_ + delivery_.rate().time_for(lacks), now + min_wait);
  return greater(last_ack_ + ack_gap().from + (delivery_.rate() * gap_gain).time_for(lacks), now + min_wait);
}

/// Returns when one segment may be sent as a probe whether all bytes in flight are lost. Returns `never` if a probe is
/// in flight (`in_flight` exceeds the window), or if no timeout is known.
Instant DelayBasedController::probe_at(Instant now, Bytes in_flight) const {
  const Duration after = probe_timeout();
  if (after == Duration::max() || in_flight > greater(window_ + extrapolated(Duration::max()), in_flight_))
    return never;
  const Instant asks = last_ack_ + after;
  return asks > now ? asks : now + probe_interval;
}

}  // namespace sluice::control

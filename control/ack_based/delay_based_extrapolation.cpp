// What a silence makes of the delay-based controller.

#include <algorithm>

#include "control/ack_based/delay_based_controller.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// So much of what the link carries in a silence is sent in it. This and the next one were chosen on the recorded links
/// with a scheduled uplink, between use and delay.
constexpr double gap_gain = 0.9;
/// An acknowledgement that would be later than usual by so much is not only late.
constexpr Duration unusual_late = milliseconds(15);
/// Room is not looked for more often.
constexpr Duration min_wait = milliseconds(1);
/// Nothing is overdue before, since a receiver may delay an acknowledgement for so long (as in RFC 8985).
constexpr Duration min_probe_timeout = milliseconds(200);
/// What is in flight at hardly any rate is waited for up to this.
constexpr Duration longest_carried = seconds(1);
/// So often it is looked for who can ask.
constexpr Duration probe_interval = milliseconds(10);

}  // namespace

/// The uplink makes acknowledgements wait, it is known for how long, and the sender can use what the window grows by:
/// the window of a connection that stays end to end goes in acknowledgements.
bool DelayBasedController::extrapolates() const {
  return ack_delay_.is_notable() && control_loop_delay_ <= Duration::zero();
}

/// What waits does not last for a rest, and acknowledgements tell nothing meanwhile. As with a late uplink the sender
/// must be able to use it.
void DelayBasedController::update_bursty_link() {
  bursty_link_ =
      delivery_.is_bursty() && control_loop_delay_ <= Duration::zero() && delivery_.idle_gap() * 2 > wait() * 3;
}

/// The window follows silences; there is neither a start-up nor a drain, which have windows of their own, nor an
/// outage.
bool DelayBasedController::extrapolates_in_gap() const {
  return (extrapolates() || bursty_link_) && !loss_limited_ && !starting() && !draining() && !all_lost_ && !idle_;
}

/// With a late uplink at once, until the next acknowledgement is later than is usual. With a link that rests once a gap
/// is about a rest: what it sends in a burst is then under way before the burst begins.
DelayBasedController::AckGap DelayBasedController::ack_gap() const {
  if (extrapolates()) {
    const Duration until = ack_delay_.usual() + unusual_late - ack_delay_.newest();
    return {Duration::zero(), std::max(until, Duration::zero())};
  }
  const Duration from = delivery_.gap() / 2;
  return {from, from + delivery_.idle_gap()};
}

Bytes DelayBasedController::extrapolated(Duration lasted) const {
  if (!extrapolates_in_gap()) return Bytes{};
  const auto [from, until] = ack_gap();
  return (delivery_.rate() * gap_gain).in(std::clamp(lasted, from, until) - from);
}

/// After so long a silence all that was in flight should have come and been acknowledged: the round trip twice, what
/// was in flight at the rate of late, and what acknowledgements were late.
Duration DelayBasedController::probe_timeout() const {
  if (!min_rtt_.known() || !delivery_.has_sample() || idle_ || all_lost_) return Duration::max();
  const Duration carried = std::min(delivery_.rate().time_for(std::max(window_, left_)), longest_carried);
  return std::max(min_probe_timeout, 2 * (base_delay() + wait()) + ack_delay_.max() + carried);
}

Bytes DelayBasedController::window(Instant now) const {
  const Duration ack_gap = now - last_ack_;
  const Bytes window = window_ + extrapolated(ack_gap);
  if (ack_gap < min_probe_timeout || ack_gap < probe_timeout()) return window;
  return std::max(window, left_) + parameters_.segment;
}

Instant DelayBasedController::budget_available_at(Instant now, Bytes in_flight) const {
  return std::min(grows_at(now, in_flight), probe_at(now, in_flight));
}

Instant DelayBasedController::grows_at(Instant now, Bytes in_flight) const {
  if (!extrapolates_in_gap() || !delivery_.has_sample()) return never;
  const Bytes lacks = in_flight + parameters_.segment - window_;
  if (lacks > extrapolated(Duration::max())) return never;
  return std::max(last_ack_ + ack_gap().from + (delivery_.rate() * gap_gain).time_for(lacks), now + min_wait);
}

/// Once it has asked, more is in flight than this.
Instant DelayBasedController::probe_at(Instant now, Bytes in_flight) const {
  const Duration after = probe_timeout();
  if (after == Duration::max() || in_flight > std::max(window_ + extrapolated(Duration::max()), left_)) return never;
  const Instant asks = last_ack_ + after;
  return asks > now ? asks : now + probe_interval;
}

}  // namespace sluice::control

// One-way delay of a peer's segments by its timestamps (TSval, RFC 7323 section 3). BudgetSharing and
// EndToEndAckControl call excess_delay() for each ACK of a UE, through possible_ack_delay(). Invariant: a result is not
// negative unless the delay is unknown: the clock may be wrong, an outage may have delayed the segment, or the minimum
// keeps rising.
#include "control/ack_based/timestamp_one_way_delay.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

constexpr Duration tick = std::chrono::milliseconds(1);
/// Interval at which the rate of the peer's clock is checked while it is not confirmed as one tick per millisecond.
constexpr Duration check_every = std::chrono::seconds(1);
/// Interval at which the confirmed rate of the peer's clock is checked again.
constexpr Duration check_again_every = std::chrono::seconds(4);
/// Half of the time over which the minimum delay is taken, so a minimum counts for 5 to 10 s.
constexpr Duration half_window = std::chrono::seconds(5);
/// Divisor of elapsed time that gives the largest growth of the minimum delay: 1 ms per second. Clocks drift by a
/// hundredth of that. If the path becomes 40 ms longer, the minimum delay includes this after 40 s. An upload that
/// fills a modem's buffer for a minute adds at most 60 ms to the minimum.
constexpr std::int64_t min_growth_divisor = 1000;
/// Largest plausible change of a segment's delay between two checks of the peer's clock, while the clock's rate is not
/// confirmed. A larger change shows that the clock is wrong.
constexpr Duration max_delay_change = std::chrono::milliseconds(350);
/// Largest plausible change of a segment's delay between two checks of a peer's clock whose rate is confirmed. It is
/// longer than for an unconfirmed clock, because an upload may have filled a modem's buffer.
constexpr Duration max_delay_change_confirmed = std::chrono::seconds(1);
/// Change of a segment's delay from which on the peer's clock counts as set to another time, unless an outage explains
/// the change. No segment waits that long for an uplink.
constexpr Duration clock_step = std::chrono::seconds(2);
/// Longest delay of a segment that an outage may explain.
constexpr Duration max_outage_delay = std::chrono::seconds(10);
/// Time for which an outage may explain late segments, counted from the first late one. If segments are still as late
/// afterwards, their delay is no longer attributed to an outage.
constexpr Duration outage_burst_time = std::chrono::seconds(1);

/// Returns the time from the timestamp `from` to the timestamp `to`; negative if `to` is the earlier one.
Duration elapsed(std::uint32_t from, std::uint32_t to) {
  return tick * static_cast<std::int32_t>(to - from);
}

/// Increase of the minimum delay from one 5 s interval to the next above which the minimum counts as risen.
constexpr Duration min_rise = std::chrono::milliseconds(10);
/// Number of successive rises of the minimum delay from which on the delay counts as unknown, because the peer's clock
/// may be too slow. The delay is known again after five seconds without a rise.
constexpr std::uint8_t most_rises = 3;
/// Number of impossible delays (longer than the round trip that contains them) after which the peer's clock is not used
/// any more.
constexpr std::uint8_t most_rejections = 2;

}  // namespace

void TimestampOneWayDelay::reject() {
  const std::uint8_t before = rejections_;
  *this = TimestampOneWayDelay{};
  rejections_ = static_cast<std::uint8_t>(std::min(before + 1, int{most_rejections}));
}

void TimestampOneWayDelay::begin(Instant now, std::uint32_t ticks, Duration waited) {
  const std::uint8_t rejections = rejections_;
  const std::uint8_t rises = rises_;
  *this = TimestampOneWayDelay{};
  rejections_ = rejections;
  rises_ = rises;
  before_ = newest_ = min_delay_ = -waited;
  is_assumed_ = waited > Duration::zero();
  origin_ = checked_ = min_at_ = newest_since_ = now;
  origin_ticks_ = checked_ticks_ = ticks;
}

Duration TimestampOneWayDelay::excess_delay(Instant now, std::uint32_t ticks, Duration first, Duration most) {
  if (rejections_ >= most_rejections) return Duration(-1);
  if (origin_ == Instant{}) begin(now, ticks, lesser(first, most));
  Duration delay = (now - origin_) - elapsed(origin_ticks_, ticks);
  const Duration off = delay - min_delay_;
  if (off > max_delay_change_confirmed || off < -clock_step) [[unlikely]] {
    if (may_be_outage(now, off)) return Duration(-1);
    if (off > clock_step || off < -clock_step) {
      begin(now, ticks, lesser(first, most));
      delay = Duration::zero();
    }
  } else {
    outage_since_ = Instant{};
  }
  if (is_assumed_) correct(delay, most);
  record_min(now, delay);
  check_rate(now, ticks);
  if (!in_milliseconds_ || rises_ >= most_rises) return Duration(-1);
  return delay - min_delay_;
}

/// True if an outage may have delayed the segment by `late`, its delay beyond the minimum. A delay of 1 s to 10 s may
/// be due to an outage, or to a peer's clock that was set. If segments stay as late for a second, the clock was set.
/// Until then no delay is returned, because an outage may also affect the link to the peer.
bool TimestampOneWayDelay::may_be_outage(Instant now, Duration late) {
  if (late <= max_delay_change_confirmed || late > max_outage_delay || !in_milliseconds_) {
    outage_since_ = Instant{};
    return false;
  }
  if (outage_since_ == Instant{}) outage_since_ = now;
  return now - outage_since_ < outage_burst_time;
}

void TimestampOneWayDelay::correct(Duration delay, Duration most) {
  if (delay < min_delay_) {
    is_assumed_ = false;
  } else if (delay - min_delay_ > most) {
    before_ = newest_ = min_delay_ = delay - most;
  }
}

void TimestampOneWayDelay::record_min(Instant now, Duration delay) {
  if (now - newest_since_ >= half_window) {
    is_assumed_ = false;
    rises_ = newest_ - before_ > min_rise ? static_cast<std::uint8_t>(std::min(rises_ + 1, int{most_rises})) : 0;
    before_ = newest_;
    newest_ = delay;
    newest_since_ = now;
  }
  newest_ = lesser(newest_, delay);
  min_delay_ = lesser(min_delay_ + (now - min_at_) / min_growth_divisor, lesser(newest_, before_));
  min_at_ = now;
}

/// Checks whether a tick of the peer's clock is 1 ms: whether its ticks and the local time since the last check differ
/// by at most 10 % plus the largest plausible change of the delay. The next check begins at the newest timestamp,
/// because timestamps wrap.
void TimestampOneWayDelay::check_rate(Instant now, std::uint32_t ticks) {
  const Duration passed = now - checked_;
  if (passed < (in_milliseconds_ ? check_again_every : check_every)) return;
  const Duration ticked = elapsed(checked_ticks_, ticks);
  const Duration change = in_milliseconds_ ? max_delay_change_confirmed : max_delay_change;
  in_milliseconds_ = ticked > passed * 9 / 10 - change && ticked < passed * 11 / 10 + change;
  checked_ = now;
  checked_ticks_ = ticks;
  const Duration moved = elapsed(origin_ticks_, ticks);
  origin_ += moved;
  origin_ticks_ = ticks;
}

}  // namespace sluice::control

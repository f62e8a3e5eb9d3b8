#include "control/ack_based/timestamp_one_way_delay.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr Duration tick = std::chrono::milliseconds(1);
constexpr Duration check_every = std::chrono::seconds(1);
/// A rate that was found right once is looked at over a longer time …
constexpr Duration check_again_every = std::chrono::seconds(4);
constexpr Duration half_window = std::chrono::seconds(5);
/// The least delay grows by no more than one part in so many of the time that passes: a clock drifts by a hundredth of
/// that, a way that has become 40 ms longer is known after 40 s, and an upload that fills a modem's buffer for a minute
/// hides little.
constexpr std::int64_t grows_a_part_in = 1000;
/// From one look at the rate to the next what a message waits may change by so much.
constexpr Duration waits_change = std::chrono::milliseconds(350);
/// … in which a modem's buffer may have been filled by an upload, or emptied.
constexpr Duration waits_change_again = std::chrono::seconds(1);
/// Nothing waits for an uplink for so long: the clock was set anew.
constexpr Duration set_anew = std::chrono::seconds(2);
/// … but for what an outage has kept, up to this. What comes so much later than the first of it was not kept by that.
constexpr Duration longest_kept = std::chrono::seconds(10);
constexpr Duration kept_ones_come_for = std::chrono::seconds(1);

Duration elapsed(std::uint32_t from, std::uint32_t to) {
  return tick * static_cast<std::int32_t>(to - from);
}

}  // namespace

void TimestampOneWayDelay::begin(Instant now, std::uint32_t ticks, Duration waited) {
  *this = TimestampOneWayDelay{};
  before_ = newest_ = least_ = -waited;
  assumed_ = waited > Duration::zero();
  origin_ = checked_ = min_at_ = newest_since_ = now;
  origin_ticks_ = checked_ticks_ = ticks;
}

Duration TimestampOneWayDelay::excess_delay(Instant now, std::uint32_t ticks, Duration first, Duration most) {
  if (origin_ == Instant{}) begin(now, ticks, std::min(first, most));
  Duration delay = (now - origin_) - elapsed(origin_ticks_, ticks);
  const Duration off = delay - least_;
  if (may_have_been_kept(now, off)) return Duration(-1);
  if (off > set_anew || off < -set_anew) {
    begin(now, ticks, std::min(first, most));
    delay = Duration::zero();
  }
  if (assumed_) correct(delay, most);
  record_least(now, delay);
  check_rate(now, ticks);
  if (!in_milliseconds_) return Duration(-1);
  return delay - least_;
}

/// The message is so late that its clock may be another, or an outage has kept it. Those that follow tell. Until then
/// nothing is learned from it, nor said of it: in an outage the link to the peer has stood still as well.
bool TimestampOneWayDelay::may_have_been_kept(Instant now, Duration late) {
  if (late <= waits_change_again || late > longest_kept || !in_milliseconds_) {
    kept_since_ = Instant{};
    return false;
  }
  if (kept_since_ == Instant{}) kept_since_ = now;
  return now - kept_since_ < kept_ones_come_for;
}

void TimestampOneWayDelay::correct(Duration delay, Duration most) {
  if (delay < least_) {
    assumed_ = false;
  } else if (delay - least_ > most) {
    before_ = newest_ = least_ = delay - most;
  }
}

void TimestampOneWayDelay::record_least(Instant now, Duration delay) {
  if (now - newest_since_ >= half_window) {
    assumed_ = false;
    before_ = newest_;
    newest_ = delay;
    newest_since_ = now;
  }
  newest_ = std::min(newest_, delay);
  least_ = std::min(least_ + (now - min_at_) / grows_a_part_in, std::min(newest_, before_));
  min_at_ = now;
}

/// A second of the clock is one of ours, but for what its messages waited. The origin moves along, since ticks wrap.
void TimestampOneWayDelay::check_rate(Instant now, std::uint32_t ticks) {
  const Duration passed = now - checked_;
  if (passed < (in_milliseconds_ ? check_again_every : check_every)) return;
  const Duration told = elapsed(checked_ticks_, ticks);
  const Duration change = in_milliseconds_ ? waits_change_again : waits_change;
  in_milliseconds_ = told > passed * 9 / 10 - change && told < passed * 11 / 10 + change;
  checked_ = now;
  checked_ticks_ = ticks;
  const Duration moved = elapsed(origin_ticks_, ticks);
  origin_ += moved;
  origin_ticks_ = ticks;
}

}  // namespace sluice::control

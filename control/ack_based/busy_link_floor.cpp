// Smallest window while an upload of the UE delays its ACKs. DelayBasedController calls on_sample() for each ACK.
// Invariant: the window falls below what a round has needed only if the rate does not fall with it.
#include "control/ack_based/busy_link_floor.hpp"

#include <algorithm>
#include <chrono>

#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

/// Time constant in s of the mean rate of the data that the UE sends.
constexpr double upload_memory = 1;
/// Mean rate in bytes/s of the UE's data from which on the UE counts as uploading. It is 64 kb/s, about five full
/// packets per second, which is more than the requests for a web page.
constexpr double min_upload_rate = 8000;
/// Shortest round (time in which all bytes in flight at its start are delivered). In a shorter one a few ACKs that
/// arrive together would decide the rate.
constexpr Duration min_round = std::chrono::milliseconds(50);
/// Share of the downlink's estimated rate. A round (about a round trip) with at least this delivery rate shows that the
/// downlink is busy.
constexpr double busy = 0.95;
/// Longest round (about a round trip), in s, whose measured waits in the downlink's queue are accepted at any delivery
/// rate. A longer round may contain longer ACK delays, which TimestampOneWayDelay can take for a clock that was set.
constexpr double clock_range = 1;
/// Share of the link's rate that a round longer than `clock_range` must reach, so that its measured waits in the
/// downlink's queue are accepted. If all data waits in that queue, the link is busy. At a lower rate the ACKs have
/// waited, and not the data.
constexpr double plausible = 0.75;
/// Share by which window(), the smallest window during an upload, falls in each round (about a round trip) that shows
/// the link busy. It falls because the downlink may have a queue that is not visible.
constexpr double trim = 1.0 / 32;
/// Smallest factor by which one round (about a round trip) multiplies window(), the lower bound of the window during an
/// upload. The factor is below 1 if data has waited too long in the downlink's queue.
constexpr double max_fall_of_window = 0.5;
/// Factor by which window(), the smallest window during an upload, exceeds the link's rate times the round trip after a
/// raise. It is above 1, so that a link that has become faster is detected.
constexpr double reserve = 1.1;
/// Smallest factor by which window(), the lower bound of the window during an upload, is raised in one step.
constexpr double min_raise = 1.25;
/// Largest factor by which window(), the lower bound of the window during an upload, is raised in one step.
constexpr double max_raise = 2;
/// Number of rounds (about a round trip each) after a raise of the window until the delivery rate shows the effect of
/// the raise. The data of the first round was sent before the raise.
constexpr std::uint8_t rounds_to_judge = 2;
/// Ratio of the delivery rates after and before a raise of the window. At this ratio or more the raise is confirmed:
/// the higher rate shows that the link was idle before.
constexpr double confirmed = 1.1;
/// Ratio of the delivery rates after and before a raise of the window. Between this ratio and `confirmed`, the rate
/// counts as unchanged, which shows that the link was busy. A lower rate has another cause than the raise.
constexpr double unchanged = 0.95;
/// Smallest factor by which the estimated rate of the link falls when a raise of the window has not raised the delivery
/// rate. The fall is limited, because a longer delay of ACKs may have hidden the effect of the raise by chance.
constexpr double max_fall = 0.8;
/// Largest plausible ratio of a wait in the downlink's queue to the time in which the link transmits all bytes in
/// flight. A longer wait has another cause. The ratio is above 1, because the link may have become slower.
constexpr double max_wait_ratio = 2;

}  // namespace

bool BusyLinkFloor::on_sample(const Sample& sample) {
  if (sample.uploaded > Bytes{} || uploaded_rate_ > 0) [[unlikely]] {
    const double decay = 1 / (1 + in_seconds(greater(sample.since, Duration::zero())) / upload_memory);
    uploaded_rate_ = uploaded_rate_ * decay + static_cast<double>(sample.uploaded.count()) / upload_memory;
  }
  delivered_ += sample.delivered;
  if (sample.is_limited) limited_ += sample.delivered;
  if (sample.lost > Bytes{}) [[unlikely]]
    has_loss_ = true;
  record_wait(sample);
  round_left_ -= sample.delivered;
  return round_left_ <= Bytes{} && sample.now - round_began_ >= min_round;
}

void BusyLinkFloor::end_round(const Sample& sample, Duration reference) {
  if (round_began_ != Instant{}) evaluate_round(in_seconds(sample.now - round_began_), reference);
  round_began_ = sample.now;
  round_left_ = sample.in_flight;
  delivered_ = limited_ = Bytes{};
  least_wait_ = Duration(-1);
  has_loss_ = false;
}

/// Updates the shortest wait in the downlink's queue of this round (about a round trip). A wait that the bytes in
/// flight cannot cause is ignored, because the timestamps then do not show the delay of this ACK.
void BusyLinkFloor::record_wait(const Sample& sample) {
  if (sample.wait < Duration::zero()) return;
  // Mostly the wait is not the shortest one. Then it need not be compared with the bytes in flight.
  if (least_wait_ >= Duration::zero() && sample.wait >= least_wait_) return;
  const auto carried = static_cast<double>((sample.in_flight + sample.delivered).count());
  if (in_seconds(sample.wait) * link_rate_ <= max_wait_ratio * carried) least_wait_ = sample.wait;
}

/// Adapts window(), the smallest window during an upload, to a round (about a round trip) that has lasted for
/// `seconds`. `reference` is the target wait in the downlink's queue.
void BusyLinkFloor::evaluate_round(double seconds, Duration reference) {
  const auto delivered = static_cast<double>(delivered_.count());
  const double rate = delivered / seconds;
  const bool is_limited = static_cast<double>(limited_.count()) >= delivered / 2;
  uploads_ = uploaded_rate_ >= min_upload_rate;
  if (!uploads_) {
    if (rate > link_rate_) {
      link_rate_ = rate;
    } else if (is_limited) {
      link_rate_ += (rate - link_rate_) / 4;
    }
    window_ = 0;
    until_judged_ = 0;
    return;
  }
  const bool is_busy = rate >= busy * link_rate_;
  // A link on which all data waits is busy. A much lower rate contradicts this, so the wait is not the downlink's.
  const bool is_in_range = seconds <= clock_range;
  const bool waits = least_wait_ > reference;
  const bool is_queued = waits && (is_in_range || rate >= plausible * link_rate_);
  const bool is_evidence = is_limited && !has_loss_;
  if ((is_queued && is_in_range) || (is_evidence && rate > link_rate_)) link_rate_ += (rate - link_rate_) / 2;
  if (has_loss_ || is_queued) until_judged_ = 0;
  if (is_queued) {
    const double waiting = link_rate_ * in_seconds(least_wait_ - reference);
    window_ = greater(lesser(window_, delivered) - waiting, max_fall_of_window * window_);
    return;
  }
  if (!is_evidence) return;
  const double needed = is_busy ? 0 : reserve * link_rate_ * seconds;
  if (window_ <= 0) {
    window_ = delivered;
    raise(greater(max_raise * window_, needed), rate);
  } else if (until_judged_ > 1) {
    --until_judged_;
    window_ = greater(window_, lesser(needed, max_raise * before_raise_));
  } else if (until_judged_ == 1) {
    judge(rate, needed);
  } else if (is_busy) {
    window_ -= window_ * trim;
  } else {
    raise(std::clamp(needed, min_raise * window_, max_raise * window_), rate);
  }
}

/// Confirms, withdraws or repeats the last raise of the window. `rate` is the delivery rate of a round after the raise,
/// and is compared with that before the raise. `needed` is the window that the link's rate needs; zero if the link is
/// busy.
void BusyLinkFloor::judge(double rate, double needed) {
  until_judged_ = 0;
  if (rate >= confirmed * rate_before_raise_) {
    raise(max_raise * window_, rate);
  } else if (rate >= unchanged * rate_before_raise_) {
    link_rate_ = greater(rate, max_fall * link_rate_);
    window_ = before_raise_;
  } else if (needed > 0) {
    raise(std::clamp(needed, min_raise * window_, max_raise * window_), rate);
  }
}

void BusyLinkFloor::raise(double window, double rate) {
  before_raise_ = window_;
  rate_before_raise_ = rate;
  window_ = window;
  until_judged_ = rounds_to_judge;
}

}  // namespace sluice::control

// Receive windows of a UE's uploads. UploadLimits counts all arriving data and asks for the window whenever that of a
// connection is updated. Invariant: a limit that does not shorten the modem's queue ends within some seconds.
#include "control/ack_based/upload_window.hpp"

#include <algorithm>
#include <utility>

#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

constexpr Duration rate_memory = std::chrono::seconds(1);
/// Time over which a rate is measured. Shorter times contain only a part of the bursts in which uploads take turns.
constexpr Duration rate_interval = std::chrono::milliseconds(200);
constexpr Duration min_target = std::chrono::milliseconds(50);
/// Target wait in the modem's queue as a share of the base delay, if that is more than `min_target`.
constexpr double target_share = 0.35;
/// Factor of the window in the startup. It lets the rate double per round trip.
constexpr double startup_gain = 2.5;
/// Factor by which the rate must grow within three intervals, so that the startup goes on.
constexpr double startup_growth = 1.25;
constexpr std::uint8_t startup_intervals = 3;
/// Smallest window in segments.
constexpr double min_segments = 4;
/// Multiple of the target by which a round trip must exceed the base delay to count as long.
constexpr int long_targets = 3;
constexpr std::uint8_t long_rounds = 8;
constexpr Duration long_time = std::chrono::seconds(3);
constexpr Duration first_pause = std::chrono::seconds(10);
constexpr Duration longest_pause = std::chrono::seconds(160);
/// Time without long round trips after which the next withdrawal of the limit lasts for `first_pause` again.
constexpr Duration pause_memory = std::chrono::seconds(10);
constexpr Duration drain_period = std::chrono::seconds(10);
constexpr Duration longest_drain = std::chrono::seconds(1);
/// Longest round trip that can be that of a path without a queue.
constexpr Duration longest_base_delay = std::chrono::seconds(2);
/// Share of rate · base delay that is in flight during a drain.
constexpr double drain_share = 0.5;

Instant next_drain_after(Instant now) {
  return now - now.time_since_epoch() % drain_period + drain_period;
}

}  // namespace

UploadWindow::UploadWindow(Instant now, Bytes segment, Duration base_delay)
    : segment_(static_cast<double>(segment.count())),
      interval_began_(now),
      next_drain_(next_drain_after(now)),
      pause_(first_pause) {
  base_delay_.set(now, base_delay);
}

Duration UploadWindow::target() const {
  return greater(min_target, from_seconds(target_share * in_seconds(base_delay_.value())));
}

/// Returns how long the smallest window takes at the present rate. On slow uplinks it exceeds the target.
Duration UploadWindow::min_window_time() const {
  return rate_.known() ? from_seconds(min_segments * segment_ / rate_.value()) : Duration::zero();
}

/// Returns the window in bytes outside of drains. Requires a known rate.
double UploadWindow::bytes_for(Duration downlink_wait) const {
  const double bytes = rate_.value() * in_seconds(base_delay_.value() + target() + downlink_wait);
  return std::max((in_startup_ ? startup_gain : 1) * bytes + 2 * segment_, min_segments * segment_);
}

bool UploadWindow::keeps_queue_short() const {
  if (withdrawn_ || !rate_.known()) return false;
  return bytes_for(Duration::zero()) <= rate_.value() * in_seconds(base_delay_.value() + 2 * target());
}

void UploadWindow::on_received(Instant now, Bytes bytes) {
  const Duration elapsed = now - interval_began_;
  if (elapsed >= greater(rate_interval, base_delay_.value())) {
    const double rate = static_cast<double>(received_.count()) / in_seconds(elapsed);
    interval_began_ = now;
    received_ = Bytes{};
    rate_.add(now, rate, rate_memory);
    if (in_startup_) check_startup(rate);
  }
  received_ += bytes;
}

void UploadWindow::check_startup(double rate) {
  if (rate > startup_growth * startup_rate_) {
    startup_rate_ = rate;
    steady_intervals_ = 0;
  } else if (++steady_intervals_ >= startup_intervals) {
    in_startup_ = false;
  }
}

std::optional<Bytes> UploadWindow::window(Instant now, Duration downlink_wait) {
  if (!rate_.known() || rate_.value() <= 0 || now < withdrawn_until_) return std::nullopt;
  if (std::exchange(withdrawn_, false)) {
    replaces_base_delay_ = true;
    begin_drain(now);
  }
  if (now >= next_drain_) begin_drain(now);
  if (now >= drain_ends_) return Bytes(bytes_for(downlink_wait));
  const double drained = drain_share * rate_.value() * in_seconds(base_delay_.value() + downlink_wait);
  return Bytes(std::max(drained, min_segments * segment_));
}

/// Begins a drain. It lasts for the time in which the modem's queue empties, and a round trip.
void UploadWindow::begin_drain(Instant now) {
  next_drain_ = next_drain_after(now);
  drain_ends_ = now + lesser(2 * base_delay_.value() + target(), longest_drain);
}

void UploadWindow::on_round_trip(Instant now, Duration round_trip) {
  // After a longer round trip the UE had nothing to send for a time, or the modem's queue is long.
  if (round_trip <= longest_base_delay) {
    if (std::exchange(replaces_base_delay_, false)) base_delay_.clear();
    base_delay_.add(now, round_trip, base_delay_memory);
  }
  const Duration wait = round_trip - base_delay_.value() - min_window_time();
  if (wait > target()) in_startup_ = false;
  if (wait <= long_targets * target()) {
    long_rounds_ = 0;
    if (now - withdrawn_until_ >= pause_memory) pause_ = first_pause;
    return;
  }
  if (long_rounds_ == 0) long_since_ = now;
  if (long_rounds_ < long_rounds) ++long_rounds_;
  if (long_rounds_ == long_rounds && now - long_since_ >= long_time) withdraw(now);
}

void UploadWindow::withdraw(Instant now) {
  withdrawn_ = true;
  withdrawn_until_ = now + pause_;
  pause_ = lesser(2 * pause_, longest_pause);
  long_rounds_ = 0;
}

std::optional<Duration> UploadRoundTrip::on_received(Instant now, Bytes bytes) {
  received_ += bytes.count();
  if (!measures_ || received_ <= edge_) return std::nullopt;
  measures_ = false;
  return now - raised_at_;
}

void UploadRoundTrip::on_larger_window(Instant now, Bytes unused) {
  if (measures_) return;
  measures_ = true;
  edge_ = received_ + unused.count();
  raised_at_ = now;
}

}  // namespace sluice::control

// Copa: mode detection, delta, velocity and window per ACK. Called through PathModel by paced.cpp for every ACK that
// Endpoint processes. Section numbers are those of the paper (NSDI 2018). Reads no clock and no random source.

#include "dataplane/tcp/copa.hpp"

#include <algorithm>

#include "dataplane/tcp/congestion.hpp"

namespace sluice::tcp {

using namespace std::chrono_literals;

namespace {

constexpr Duration min_rtt_window = 10s;  ///< time over which Copa computes the minimum RTT
constexpr int oscillation_rounds = 4;     ///< time over which Copa computes the maximum RTT (RTTmax), in round trips
/// Number of round trips within which a flow without competition empties the queue once (Arun and Balakrishnan, NSDI
/// 2018, section 3).
constexpr int empty_rounds = 5;
/// Share of the RTT's range (RTTmax − RTTmin) below which the queueing delay counts as zero.
constexpr double nearly_empty = 0.1;

/// Rounds in which cwnd must keep its direction before the velocity doubles. The velocity is the factor by which each
/// change of cwnd is multiplied.
constexpr std::uint32_t same_rounds_needed = 3;

}  // namespace

void Copa::start(const ModelStart& start) {
  *this = Copa();
  const bool known = start.srtt > Duration::zero();
  if (known) {
    min_rtt_.record(start.now, min_rtt_window, start.srtt);
    standing_.record(start.now, start.srtt / 2, start.srtt);
  }
  round_cwnd_ = start.cwnd;
  pacing_rate_ = Rate::of(Bytes(start.cwnd), known ? start.srtt : 1ms) * pacing_factor;
}

void Copa::seed(std::uint32_t cwnd, Duration srtt) {
  if (srtt <= Duration::zero()) return;
  slow_start_ = saved_slow_start_ = false;
  competitive_ = loss_in_round_ = begun_ = false;
  inverse_delta_ = saved_inverse_delta_ = default_inverse_delta;
  set_direction(Direction::none);
  round_cwnd_ = cwnd;
  fraction_ = 0;
  pacing_rate_ = Rate::of(Bytes(cwnd), srtt) * pacing_factor;
}

std::uint32_t Copa::on_ack(const ModelAck& ack, std::uint32_t cwnd) {
  if (ack.sample.newly_lost != 0) loss_in_round_ = true;
  measure(ack);
  if (!standing_.known()) return cwnd;
  judge_mode(ack);
  if (rounds_.advance(ack.sample, ack.delivered)) {
    adapt_delta();
    update_velocity(cwnd);
  }
  cwnd = move(ack, cwnd);
  pacing_rate_ = Rate::of(Bytes(cwnd), standing_.value()) * pacing_factor;
  return cwnd;
}

// Takes an RTT sample. RTTstanding is the minimum over half a smoothed RTT, so bunched ACKs do not look like a queue
// (section 2.1 of the Copa paper).
void Copa::measure(const ModelAck& ack) {
  if (ack.sample.rtt < Duration::zero()) return;
  const Duration rtt = std::max(ack.sample.rtt, Duration(1));
  min_rtt_.record(ack.now, min_rtt_window, rtt);
  standing_.record(ack.now, ack.srtt / 2, rtt);
  largest_.record(ack.now, ack.srtt * oscillation_rounds, rtt);
}

// Detects competing traffic: the queue was not nearly empty for five round trips (section 2.2 of the Copa paper).
void Copa::judge_mode(const ModelAck& ack) {
  const Duration oscillation = largest_.value() - min_rtt_.value();
  if (!begun_ || to_seconds(queueing()) <= nearly_empty * to_seconds(oscillation)) {
    begun_ = true;
    empty_at_ = ack.now;
  }
  const bool competitive = ack.now - empty_at_ > ack.srtt * empty_rounds;
  if (competitive == competitive_) return;
  competitive_ = competitive;
  inverse_delta_ = saved_inverse_delta_ = default_inverse_delta;
}

/// Updates 1/delta once per round trip in competitive mode (section 2.2 of the Copa paper). As Reno's window does, it
/// grows by 1 per round, and is halved after a loss.
void Copa::adapt_delta() {
  const bool loss = loss_in_round_;
  loss_in_round_ = false;
  if (!competitive_) return;
  saved_inverse_delta_ = inverse_delta_;
  inverse_delta_ = loss ? std::max(inverse_delta_ / 2, default_inverse_delta) : inverse_delta_ + 1;
}

// Updates the velocity once per round (section 2.1, step 4 of the Copa paper). Doubling starts at the third round,
// because a flow in equilibrium keeps its direction for two and a half rounds.
void Copa::update_velocity(std::uint32_t cwnd) {
  const Direction direction = cwnd > round_cwnd_ ? Direction::up : Direction::down;
  round_cwnd_ = cwnd;
  if (slow_start_) return;
  if (direction != direction_) {
    set_direction(direction);
  } else if (++same_rounds_ >= same_rounds_needed) {
    velocity_ *= 2;
  }
}

/// Sets the direction in which cwnd changes, and resets the velocity (factor of each change) to 1.
void Copa::set_direction(Direction direction) {
  direction_ = direction;
  velocity_ = 1;
  same_rounds_ = 0;
}

/// True if the rate that cwnd permits is at most the target 1/(delta dq) (section 2.1, steps 2 and 3 of the Copa
/// paper). Here dq is the queueing delay, and the target is in packets per second.
bool Copa::below_target(std::uint32_t cwnd, std::uint32_t mss) const {
  const double packets = static_cast<double>(cwnd) / mss;
  return packets * to_seconds(queueing()) <= inverse_delta_ * to_seconds(standing_.value());
}

/// Changes cwnd by velocity / delta segments per round, so that its rate approaches the target; returns the new cwnd.
/// It does not grow unless it limits the sender. In slow start, while the rate is below the target, cwnd grows by the
/// bytes delivered.
std::uint32_t Copa::move(const ModelAck& ack, std::uint32_t cwnd) {
  const std::uint32_t least = min_segments * ack.mss;
  const bool up = below_target(cwnd, ack.mss);
  if (up && !ack.window_limited) return std::max(cwnd, least);
  const auto newly = static_cast<double>(ack.sample.newly);
  if (slow_start_ && up) return std::min(cwnd + ack.sample.newly, largest_congestion_window);
  slow_start_ = false;
  const Direction direction = up ? Direction::up : Direction::down;
  if (direction_ != direction && velocity_ > 1) set_direction(direction);
  const double step = std::min(velocity_ * inverse_delta_ * ack.mss * newly / std::max(cwnd, least), newly);
  fraction_ += up ? step : -step;
  const auto whole = static_cast<std::int64_t>(fraction_);
  fraction_ -= static_cast<double>(whole);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(cwnd + whole, least, std::max(least, largest_congestion_window)));
}

void Copa::on_timeout(std::uint32_t) {
  saved_inverse_delta_ = inverse_delta_;
  saved_slow_start_ = slow_start_;
  slow_start_ = true;
  set_direction(Direction::none);
}

void Copa::on_undo() {
  inverse_delta_ = std::max(inverse_delta_, saved_inverse_delta_);
  if (!saved_slow_start_) slow_start_ = false;
  loss_in_round_ = false;
}

std::uint32_t Copa::on_restart(bool, Instant now, std::uint32_t cwnd) {
  set_direction(Direction::none);
  empty_at_ = now;
  return cwnd;
}

}  // namespace sluice::tcp

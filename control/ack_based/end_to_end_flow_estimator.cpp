// Observes one direction of a regulated connection from the middle of its path: RTT to the receiver, delay to the
// sender, bytes in flight, and whether the window limits the sender.
// EndToEndAckControl owns one per flow and calls it for each packet. Invariant: constant space; if more than 32 marks
// are needed, every other one is dropped.

#include "control/ack_based/end_to_end_flow_estimator.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

/// Half of the longest time for which a minimum of the control loop delay counts: it counts for 10 to 20 s. That delay
/// is the time from forwarding a receive window to the first data that needs this window.
constexpr Duration control_loop_memory = std::chrono::seconds(10);
/// Distance in µs of two marks (recorded positions with their times) up to which the data between them counts as sent
/// at one time.
constexpr std::int32_t mark_resolution = 2000;
/// Fixed part of the time within which a sender must use a new receive window to count as limited by it. It allows for
/// a sender that is busy for a moment. The other part is 9/8 of the control loop delay (time from a window to the data
/// that needs it).
constexpr Duration response_slack = std::chrono::milliseconds(5);
/// Divisor of the control loop delay (time from a receive window to the data that needs it). The quotient extends the
/// time within which a sender must use a new window. A larger quotient would count a sender as limited by the receive
/// window, although the sender's own smaller window limits it.
constexpr std::int64_t response_slack_part = 8;
/// Time for which a sender must have used every new receive window later than response_timeout(), so that the window no
/// longer counts as its limit.
constexpr Duration limited_for = std::chrono::milliseconds(500);

std::uint32_t low_bits(Bytes position) {
  return static_cast<std::uint32_t>(position.count());
}
std::uint32_t low_bits(Instant at) {
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count());
}
std::int32_t distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to - from);
}

}  // namespace

EndToEndFlowEstimator::EndToEndFlowEstimator(Instant now, const Start& start, Duration control_loop_delay)
    : sent_(start.sent), acked_(start.acked), retransmitted_(start.sent) {
  if (control_loop_delay > Duration::zero()) control_loop_delay_.add(now, control_loop_delay, control_loop_memory);
}

void EndToEndFlowEstimator::on_data(Instant now, Bytes end) {
  if (end <= sent_) return;
  const std::uint32_t at = low_bits(now);
  if (sent_ <= acked_) {
    marks_[0] = {low_bits(sent_), at};
    used_ = 1;
  }
  sent_ = end;
  mark({low_bits(end), at});
  if (!waiting_ || end <= awaited_edge_) return;
  waiting_ = false;
  update_window_limited(now, now - window_sent_at_);
  control_loop_delay_.add(now, now - window_sent_at_, control_loop_memory);
}

/// Adds a mark (position and time) for the newest data. If the second last mark is close to it in bytes and time, the
/// new mark replaces the last one. So marks are evenly spaced.
void EndToEndFlowEstimator::mark(const Mark& newest) {
  constexpr std::int32_t parts = capacity / 2;
  if (used_ > 1) {
    const Mark& oldest = marks_[0];
    const Mark& before = marks_[used_ - 2U];
    const bool near_in_bytes = distance(before.end, newest.end) <= distance(oldest.end, newest.end) / parts;
    const bool near_in_time =
        distance(before.at, newest.at) <= std::max(mark_resolution, distance(oldest.at, newest.at) / parts);
    if (near_in_bytes && near_in_time) {
      marks_[used_ - 1U] = newest;
      return;
    }
  }
  if (used_ == capacity) thin_out();
  marks_[used_++] = newest;
}

/// Removes every other mark (position and time of sent data) except the oldest and the newest, to make space.
void EndToEndFlowEstimator::thin_out() {
  std::uint8_t kept = 1;
  for (std::size_t i = 2; i < used_; i += 2) marks_[kept++] = marks_[i];
  if (used_ % 2 == 0) marks_[kept++] = marks_[used_ - 1U];
  used_ = kept;
}

void EndToEndFlowEstimator::on_retransmission() {
  retransmitted_ = sent_;
}

EndToEndFlowEstimator::Acked EndToEndFlowEstimator::on_ack(Instant now, Bytes ack) {
  Acked acked_now;
  if (waiting_ && now - window_sent_at_ > response_timeout()) update_window_limited(now, now - window_sent_at_);
  // Data that passed on another path, or before this flow was observed, does not count as in flight.
  const Bytes newly = std::min(ack, sent_) - acked_;
  if (newly <= Bytes{}) return acked_now;
  acked_now.round_trip = take_rtt(low_bits(now), low_bits(acked_ + newly));
  acked_ += newly;
  if (acked_ <= retransmitted_ || ack > sent_) acked_now.round_trip = Duration::zero();
  const Bytes known = std::min(newly, out_of_order_);
  out_of_order_ -= known;
  acked_now.delivered = newly - known;
  return acked_now;
}

EndToEndFlowEstimator::Acked EndToEndFlowEstimator::on_duplicate(Bytes segment) {
  // The missing segment itself has not arrived.
  const Bytes delivered = std::clamp(in_flight() - segment, Bytes{}, segment);
  out_of_order_ += delivered;
  return {delivered, Duration::zero()};
}

/// Returns the RTT of the acknowledged position `ack` (its low 32 bits); zero if the marks (positions with times)
/// around it are too far apart. `now` has the low 32 bits of the time in µs. Removes the marks before that position.
/// The RTT may be too long by the distance of two marks, which does no harm because the caller uses a minimum.
Duration EndToEndFlowEstimator::take_rtt(std::uint32_t now, std::uint32_t ack) {
  std::size_t next = 0;
  while (next < used_ && distance(ack, marks_[next].end) < 0) ++next;
  if (next == used_ || next == 0) return Duration::zero();
  const Mark before = marks_[next - 1];
  const Mark after = marks_[next];
  const bool exact = after.end == ack;
  const std::uint32_t passed = exact ? after.at : before.at;
  const std::int32_t rtt = std::max(distance(passed, now), std::int32_t{1});
  const bool known = exact || distance(before.at, after.at) <= std::max(mark_resolution, rtt / 8);
  std::copy(marks_.begin() + static_cast<std::ptrdiff_t>(next), marks_.begin() + used_, marks_.begin() + 1);
  marks_[0] = {ack, passed};
  used_ = static_cast<std::uint8_t>(used_ - next + 1);
  return known ? std::chrono::microseconds(rtt) : Duration::zero();
}

void EndToEndFlowEstimator::on_window(Instant now, Bytes edge, Bytes segment) {
  if (edge <= edge_) return;
  const Bytes whole_segments = segment * ((edge - sent_).count() / segment.count());
  if (edge_ >= Bytes{} && !waiting_ && sent_ + whole_segments > edge_) {
    waiting_ = true;
    awaited_edge_ = edge_;
    window_sent_at_ = now;
  }
  edge_ = edge;
}

/// Updates whether the receive window limits the sender. `response_time` is the time from forwarding a window to the
/// first data that needed it. If it is at most response_timeout(), the window limits the sender. If it was longer for
/// half a second without exception, the window does not.
void EndToEndFlowEstimator::update_window_limited(Instant now, Duration response_time) {
  if (response_time <= response_timeout()) {
    window_limited_ = true;
    window_limited_at_ = now;
  } else if (now - window_limited_at_ > limited_for) {
    window_limited_ = false;
  }
}

Duration EndToEndFlowEstimator::response_timeout() const {
  return control_loop_delay() + control_loop_delay() / response_slack_part + response_slack;
}

}  // namespace sluice::control

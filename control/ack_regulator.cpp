#include "control/ack_regulator.hpp"

#include <algorithm>

#include "control/rule_checker.hpp"

namespace sluice::control {

std::vector<Violation> validate(const AckRegulatorParameters& p) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.segment, p.segment > Bytes(0), Severity::error, "segment > 0",
                print("segment = ", p.segment.count(), " B"));
  check.require(p.buffer, p.buffer > Bytes(0), Severity::error, "B > 0", print("B = ", p.buffer.count(), " B"));
  if (!check.clean()) return check.take();
  check.require(p.buffer, p.buffer >= p.segment * 2, Severity::error, "B ≥ 2 segments",
                print("B = ", p.buffer.count(), " B < ", (p.segment * 2).count(),
                      " B: an ACK of slow start brings two segments and could never be released"));
  return check.take();
}

AckRegulator::AckRegulator(const AckRegulatorParameters& parameters) : parameters_(parameters) {
  refuse_errors(validate(parameters));
}

void AckRegulator::on_data(Bytes end) {
  if (end <= arrived_) return;
  arrived_ = end;
  window_ = std::max(window_, arrived_ - released_);
}

void AckRegulator::on_drop(Bytes end) {
  if (phase_ == SourcePhase::recovery && end <= recovery_end_) return;
  phase_ = SourcePhase::recovery;
  recovery_end_ = arrived_;
}

AckRelease AckRegulator::on_queue(Bytes queue) {
  queue_ = queue;
  return release();
}

AckRelease AckRegulator::on_ack(Bytes ack) {
  acked_ = std::max(acked_, ack);
  return release();
}

void AckRegulator::on_released(Bytes ack) {
  if (ack <= released_) return;
  released_ = ack;
  if (phase_ == SourcePhase::recovery) {
    if (released_ < recovery_end_) return;
    // The source has learnt that its loss is repaired: its window is now the half.
    phase_ = SourcePhase::avoidance;
    window_ = std::max(arrived_ - released_, parameters_.segment);
    round_end_ = arrived_;
    window_at_round_ = window_;
    return;
  }
  watch_growth();
}

/// In a round slow start adds half the window (delayed ACKs) or all of it, congestion avoidance a segment.
void AckRegulator::watch_growth() {
  if (released_ < round_end_) return;
  const bool slow = (window_ - window_at_round_) * 4 <= window_at_round_;
  if (round_end_ > Bytes(0) && phase_ == SourcePhase::slow_start && slow) phase_ = SourcePhase::avoidance;
  round_end_ = arrived_;
  window_at_round_ = window_;
}

AckRelease AckRegulator::release() {
  const bool empty = queue_ <= Bytes(0);
  const std::size_t rescued = rescue_.next(empty);
  if (empty) window_ = std::max(arrived_ - released_, parameters_.segment);  // what else was expected did not come
  if (empty && acked_ >= arrived_) return AckRelease::all();  // nothing is left that would ever release them
  const Bytes free = std::max(Bytes(0), parameters_.buffer - queue_);
  Bytes room = free;
  // Slow start never outgrows anything if every ACK waits for twice its room: with a buffer's worth of them waiting it
  // has, and gets its drop.
  const bool outgrown = acked_ - released_ > parameters_.buffer;
  if (phase_ == SourcePhase::slow_start && !outgrown) room = free / 2;
  // Until it has learnt of the drop the source goes on as before, which may be slow start.
  if (phase_ == SourcePhase::recovery) room = std::min(free / 2, free - parameters_.segment);
  return {arrived_ + room - window_, rescued};
}

}  // namespace sluice::control

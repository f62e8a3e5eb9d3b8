// The Ack Regulator (Chan & Ramjee, MobiCom 2002, as described in INFOCOM 2004): withholds ACKs of one flow while the
// buffer has no space for the data that they cause. FlowController calls it through AckRegulatorController, on data,
// reports and ACKs of its flow. Invariant: a released ACK of position `a` allows data up to a + W, where W is the
// source's window, and this data fits the free buffer.

#include "control/window_laws/ack_regulator.hpp"

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
    // The source knows that its loss is repaired, so its window is halved.
    phase_ = SourcePhase::avoidance;
    window_ = std::max(arrived_ - released_, parameters_.segment);
    round_end_ = arrived_;
    window_at_round_ = window_;
    return;
  }
  watch_growth();
}

/// Ends the phase `slow_start` if the sender's window grew by a quarter or less in a round trip. In slow start the
/// window grows by half (with delayed ACKs) or doubles per round trip; in congestion avoidance it grows by one segment.
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
  if (empty) window_ = std::max(arrived_ - released_, parameters_.segment);  // other expected data did not arrive
  if (empty && acked_ >= arrived_) return AckRelease::all();                 // no later event would release them
  const Bytes free = std::max(Bytes(0), parameters_.buffer - queue_);
  Bytes room = free;
  // In slow start every ACK waits for twice its space, so the window would never outgrow the buffer. With a buffer's
  // worth of ACKs withheld it has outgrown it, and gets its drop.
  const bool outgrown = acked_ - released_ > parameters_.buffer;
  if (phase_ == SourcePhase::slow_start && !outgrown) room = free / 2;
  // Until it knows of the drop the source continues as before, possibly in slow start.
  if (phase_ == SourcePhase::recovery) room = std::min(free / 2, free - parameters_.segment);
  return {arrived_ + room - window_, rescued};
}

}  // namespace sluice::control

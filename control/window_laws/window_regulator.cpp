#include "control/window_laws/window_regulator.hpp"

#include <algorithm>

#include "control/rule_checker.hpp"

namespace sluice::control {

std::vector<Violation> validate(const WindowRegulatorParameters& p) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.segment, p.segment > Bytes(0), Severity::error, "segment > 0",
                print("segment = ", p.segment.count(), " B"));
  check.require(p.buffer, p.buffer > Bytes(0), Severity::error, "B > 0", print("B = ", p.buffer.count(), " B"));
  if (!check.clean()) return check.take();
  check.require(p.buffer, p.buffer >= p.segment, Severity::error, "B ≥ segment",
                print("B = ", p.buffer.count(), " B < ", p.segment.count(), " B: no full segment may ever be sent"));
  check.require(p.buffer, p.buffer < p.segment || p.buffer >= p.segment * 2, Severity::warning, "B ≥ 2 segments",
                print("B = ", p.buffer.count(), " B < ", (p.segment * 2).count(),
                      " B: nothing waits while the next segment is on its way, the queue runs empty"));
  return check.take();
}

WindowRegulator::WindowRegulator(const WindowRegulatorParameters& parameters) : parameters_(parameters) {
  refuse_errors(validate(parameters));
}

AckRelease WindowRegulator::on_dequeue(Bytes end, bool queue_empty) {
  dequeued_ = std::max(dequeued_, end);
  return release(queue_empty);
}

AckRelease WindowRegulator::on_ack(Bytes ack, bool queue_empty) {
  const bool duplicate = ack <= acked_;
  acked_ = std::max(acked_, ack);
  dequeued_ = std::max(dequeued_, acked_);  // the queue's report may be late; what the UE has must have left the queue
  const AckRelease release_now = release(queue_empty);
  return duplicate ? AckRelease::all() : release_now;
}

Bytes WindowRegulator::window(Bytes ack) const {
  if (parameters_.form == WindowRegulation::fixed) return parameters_.buffer;
  return std::max(Bytes(0), dequeued_ + parameters_.buffer - ack);
}

void WindowRegulator::on_released(Bytes ack, Bytes window) {
  released_ = std::max(released_, ack);
  edge_ = advertised_ ? std::max(edge_, ack + window) : ack + window;
  advertised_ = true;
}

AckRelease WindowRegulator::release(bool queue_empty) {
  const std::size_t rescued = rescue_.next(queue_empty);
  if (parameters_.form != WindowRegulation::ack_buffer || !advertised_) return AckRelease::all();
  // With nothing queued and nothing on the air, no later event would release them.
  if (queue_empty && on_air() == Bytes(0)) return AckRelease::all();
  // More is already advertised than this controller would advertise, because another one was active or B was larger. An
  // ACK then advertises nothing more, so withholding it would have no effect.
  if (edge_ > dequeued_ + parameters_.buffer + parameters_.segment) return AckRelease::all();
  // An ACK of this position carries exactly the last window.
  const Bytes last_window = edge_ - released_;
  return {dequeued_ + parameters_.buffer - last_window, rescued};
}

}  // namespace sluice::control

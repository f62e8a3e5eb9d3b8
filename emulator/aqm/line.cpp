#include "emulator/aqm/line.hpp"

#include <stdexcept>
#include <utility>

#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

QueueLine::QueueLine(EventLoop& loop, Rate rate, Duration delay, std::unique_ptr<QueueDiscipline> discipline,
                     Element& next)
    : loop_(loop), rate_(rate), delay_(delay), discipline_(std::move(discipline)), next_(next) {
  if (rate <= Rate() || delay < Duration::zero() || discipline_ == nullptr) {
    throw std::invalid_argument("router: a line needs a rate above 0, a delay of 0 or more and a queue");
  }
}

void QueueLine::receive(packet::Packet packet, Instant now) {
  discipline_->enqueue(std::move(packet), now);
  if (!sending_) send_next(now);
}

void QueueLine::send_next(Instant now) {
  sending_ = discipline_->dequeue(now);
  if (sending_) loop_.at(now + rate_.time_for(line_size(sending_)), *this, sent_tag);
}

void QueueLine::on_event(std::uint64_t tag, Instant now) {
  if (tag == sent_tag) {
    in_flight_.push({std::move(sending_), now + delay_});
    send_next(now);
  } else {
    armed_ = false;
    while (!in_flight_.empty() && in_flight_.front().due <= now) next_.receive(in_flight_.pop().packet, now);
  }
  arm();
}

void QueueLine::arm() {
  if (armed_ || in_flight_.empty()) return;
  armed_ = true;
  loop_.at(in_flight_.front().due, *this, arrived_tag);
}

}  // namespace sluice::emulator

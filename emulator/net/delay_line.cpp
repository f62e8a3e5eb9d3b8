#include "emulator/net/delay_line.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

DelayLine::DelayLine(EventLoop& loop, const DelayLineConfig& config, Element& next, Random random)
    : loop_(loop), config_(config), random_(random), began_(loop.now()), next_(&next) {
  if (config.delay < Duration::zero()) throw std::invalid_argument("delay line: the delay must not be negative");
  if (config.jitter < Duration::zero() || config.jitter > config.delay)
    throw std::invalid_argument("delay line: the jitter must be 0 … delay");
  Duration before{};
  for (const DelayStep& step : config_.steps) {
    if (step.extra < Duration::zero() || step.at < before)
      throw std::invalid_argument("delay line: steps must be in the order of time and 0 or more");
    before = step.at;
  }
}

void DelayLine::receive(packet::Packet packet, Instant now) {
  const Bytes size = line_size(packet);
  ++counters_.packets;
  counters_.bytes += static_cast<std::uint64_t>(size.count());
  Instant sent = now;
  if (config_.rate > Rate()) {
    if (!wait_for_line(size, now)) {
      ++counters_.dropped;
      return;
    }
    sent = line_free_;
  }
  in_flight_.push({std::move(packet), arrival(sent)});
  arm();
}

Instant DelayLine::arrival(Instant sent) {
  while (step_ < config_.steps.size() && began_ + config_.steps[step_].at <= sent) ++step_;
  Instant due = sent + config_.delay;
  if (step_ > 0) due += config_.steps[step_ - 1].extra;
  if (config_.jitter > Duration::zero())
    due += Duration(static_cast<Duration::rep>(random_.uniform(-1, 1) * static_cast<double>(config_.jitter.count())));
  return in_flight_.empty() ? due : std::max(due, in_flight_.back().due);
}

bool DelayLine::wait_for_line(Bytes size, Instant now) {
  while (!waiting_.empty() && waiting_.front().begins <= now) waiting_bytes_ -= waiting_.pop().size;
  const Instant begins = std::max(line_free_, now);
  if (begins > now) {
    if (config_.buffer > Bytes(0) && waiting_bytes_ + size > config_.buffer) return false;
    waiting_.push({begins, size});
    waiting_bytes_ += size;
  }
  line_free_ = begins + config_.rate.time_for(size);
  return true;
}

void DelayLine::arm() {
  if (armed_ || in_flight_.empty()) return;
  armed_ = true;
  in_flight_.front().packet.prefetch();
  loop_.at(in_flight_.front().due, *this);
}

void DelayLine::on_event(std::uint64_t /*tag*/, Instant now) {
  while (!in_flight_.empty() && in_flight_.front().due <= now) next_->receive(in_flight_.pop().packet, now);
  armed_ = false;
  arm();
}

}  // namespace sluice::emulator

#include "emulator/aqm/codel.hpp"

#include <cmath>
#include <stdexcept>

#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

CodelControl::CodelControl(const CodelParameters& parameters) : parameters_(parameters) {
  if (parameters.target <= Duration::zero() || parameters.interval <= Duration::zero()) {
    throw std::invalid_argument("CoDel: target and interval must be above 0");
  }
}

bool CodelControl::standing(const Queued* packet, Bytes backlog, Instant now) {
  if (packet == nullptr || now - packet->since < parameters_.target || backlog <= parameters_.max_packet) {
    first_above_.reset();
    return false;
  }
  if (!first_above_) {
    first_above_ = now + parameters_.interval;
    return false;
  }
  return now >= *first_above_;
}

void CodelControl::begin_dropping(Instant now) {
  dropping_ = true;
  // If the last drop state ended recently, dropping resumes at its rate, because that rate controlled the queue then.
  const std::uint32_t delta = count_ - last_count_;
  const bool lately = now - drop_next_ < parameters_.interval * 16;
  count_ = delta > 1 && lately ? delta : 1;
  drop_next_ = control_law(now);
  last_count_ = count_;
}

Instant CodelControl::control_law(Instant from) const {
  return from + Duration(static_cast<Duration::rep>(static_cast<double>(parameters_.interval.count()) /
                                                    std::sqrt(static_cast<double>(count_))));
}

void CodelQueue::enqueue(packet::Packet packet, Instant now) {
  if (!fits(packet, limit_)) {
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  on_enqueued(packet);
  queue_bytes_ += line_size(packet);
  queue_.push({std::move(packet), now});
}

packet::Packet CodelQueue::dequeue(Instant now) {
  const auto pull = [this]() -> std::optional<Queued> {
    if (queue_.empty()) return std::nullopt;
    Queued oldest = queue_.pop();
    queue_bytes_ -= size_of(oldest);
    return oldest;
  };
  auto next = control_.dequeue(
      now, pull, [this] { return queue_bytes_; },
      [this](const Queued& gone) { dropped(gone, &DisciplineCounters::dropped_early); }, [this] { record_mark(); });
  if (!next) return {};
  return departs(std::move(*next), now);
}

}  // namespace sluice::emulator

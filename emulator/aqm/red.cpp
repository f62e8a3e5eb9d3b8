// Implements RED (Floyd and Jacobson, 1993) as a router's queue. QueueLine calls enqueue() and dequeue(). An arriving
// packet updates the average queue and is then accepted, marked or dropped. The average decays over idle time as if
// small packets had been sent.

#include "emulator/aqm/red.hpp"

#include <cmath>
#include <stdexcept>

#include "emulator/aqm/ecn.hpp"

namespace sluice::emulator {
namespace {

const RedParameters& checked(const RedParameters& p) {
  if (p.min_threshold < Bytes(0) || p.max_threshold <= p.min_threshold) {
    throw std::invalid_argument("RED: max_threshold must be above min_threshold, and that 0 or more");
  }
  if (!(p.max_probability > 0 && p.max_probability <= 1) || !(p.weight > 0 && p.weight <= 1)) {
    throw std::invalid_argument("RED: max_probability and weight must be above 0 and at most 1");
  }
  if (p.mean_packet <= Bytes(0) || !(p.bytes_per_second > 0)) {
    throw std::invalid_argument("RED: the mean packet and the line's rate must be above 0");
  }
  return p;
}

}  // namespace

RedQueue::RedQueue(const QueueLimit& limit, const RedParameters& parameters, Random random)
    : limit_(limit), parameters_(checked(parameters)), random_(random) {}

/// Updates the average queue length when a packet arrives.
void RedQueue::follow(Instant now) {
  if (!queue_.empty()) {
    average_ += parameters_.weight * (static_cast<double>(bytes().count()) - average_);
    return;
  }
  // The average decays as if the small packets that fit into the idle time had arrived at an empty queue.
  const double packets = to_seconds(now - idle_since_) * parameters_.bytes_per_second /
                         static_cast<double>(parameters_.mean_packet.count());
  average_ *= std::pow(1 - parameters_.weight, packets);
}

/// Decides whether the arriving packet is accepted, marked, or dropped. Without ECN, a packet that would be marked is
/// dropped.
RedQueue::Verdict RedQueue::judge() {
  const auto low = static_cast<double>(parameters_.min_threshold.count());
  const auto high = static_cast<double>(parameters_.max_threshold.count());
  if (average_ < low) {
    count_ = -1;
    return Verdict::take;
  }
  if (average_ >= high) {
    count_ = 0;
    return parameters_.mark_above_max ? Verdict::notify : Verdict::drop;
  }
  ++count_;
  const double base = parameters_.max_probability * (average_ - low) / (high - low);
  const double spent = static_cast<double>(count_) * base;
  if (spent < 1 && !random_.chance(base / (1 - spent))) return Verdict::take;
  count_ = 0;
  return Verdict::notify;
}

void RedQueue::enqueue(packet::Packet packet, Instant now) {
  follow(now);
  const Verdict verdict = judge();
  const bool marked = verdict == Verdict::notify && parameters_.ecn && mark_congestion(packet);
  if (verdict == Verdict::drop || (verdict == Verdict::notify && !marked)) {
    refused(&DisciplineCounters::dropped_early);
    return;
  }
  if (!fits(packet, limit_)) {
    count_ = 0;
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  if (marked) record_mark();
  on_enqueued(packet);
  queue_.push({std::move(packet), now});
}

packet::Packet RedQueue::dequeue(Instant now) {
  if (queue_.empty()) return {};
  packet::Packet packet = departs(queue_.pop(), now);
  if (queue_.empty()) idle_since_ = now;
  return packet;
}

}  // namespace sluice::emulator

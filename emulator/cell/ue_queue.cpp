#include "emulator/cell/ue_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {

UeQueue::UeQueue(const QueueConfig& config) : config_(config), classes_(config.flows) {
  if (config.frame < Bytes(0) || (config.unit == BufferUnit::frames && config.frame == Bytes(0))) {
    throw std::invalid_argument("radio queue: the frame size must be above 0 where the buffer is counted in frames");
  }
}

Bytes UeQueue::on_air(Bytes length) const {
  if (config_.frame == Bytes(0)) return length;
  const std::int64_t frame = config_.frame.count();
  return Bytes((length.count() + frame - 1) / frame * frame);
}

std::uint64_t UeQueue::used_buffer() const {
  switch (config_.unit) {
    case BufferUnit::frames:
      return frames();
    case BufferUnit::bytes:
      return static_cast<std::uint64_t>((bytes_ - (serving_ ? head_bytes_left() : Bytes(0))).count());
    case BufferUnit::packets:
      return waiting_[0].size() + waiting_[1].size();
  }
  return 0;
}

bool UeQueue::has_room(Bytes length) const {
  if (config_.limit == 0) return true;
  std::uint64_t more = 1;
  if (config_.unit == BufferUnit::frames) {
    more = static_cast<std::uint64_t>(on_air(length).count() / config_.frame.count());
  } else if (config_.unit == BufferUnit::bytes) {
    more = static_cast<std::uint64_t>(length.count());
  }
  return used_buffer() + more <= config_.limit;
}

void UeQueue::count_arrival(Bytes length) {
  ++counters_.arrived_packets;
  counters_.arrived_bytes += static_cast<std::uint64_t>(length.count());
  counters_.arrived_air += static_cast<std::uint64_t>(on_air(length).count());
}

UeQueue::Waiting UeQueue::arrive(packet::Packet packet, Bytes length, Instant now) {
  const Bytes air = on_air(length);
  count_arrival(length);
  const bool is_short = config_.order == QueueOrder::fifo || classes_.is_short(packet.bytes(), length, now);
  return {std::move(packet), now, static_cast<std::uint32_t>(length.count()), static_cast<std::uint32_t>(air.count()),
          is_short};
}

bool UeQueue::may_evict(const Waiting& comer) const {
  if (config_.order == QueueOrder::short_flows_first) return comer.is_short && !waiting_[1].empty();
  return config_.drop == DropPolicy::head && !waiting_[0].empty();
}

UeQueue::Waiting UeQueue::victim() {
  if (config_.order == QueueOrder::fifo) return waiting_[0].pop();
  return waiting_[1].pop_back();
}

UeQueue::Waiting UeQueue::drop(Waiting waiting, Instant now) {
  integrate(now);
  bytes_ -= Bytes(waiting.length);
  air_bytes_ -= Bytes(waiting.air);
  if (!waiting.is_short) classes_.long_gone(waiting.packet.bytes());
  ++counters_.dropped_packets;
  counters_.dropped_bytes += waiting.length;
  return waiting;
}

void UeQueue::refuse(const Waiting& waiting) {
  if (!waiting.is_short) classes_.long_gone(waiting.packet.bytes());
  ++counters_.dropped_packets;
  counters_.dropped_bytes += waiting.length;
}

void UeQueue::admit(Waiting waiting, Instant now) {
  integrate(now);
  bytes_ += Bytes(waiting.length);
  air_bytes_ += Bytes(waiting.air);
  counters_.most_air = std::max(counters_.most_air, static_cast<std::uint64_t>(air_bytes_.count()));
  waiting_[waiting.is_short ? 0 : 1].push(std::move(waiting));
}

const UeQueue::Waiting& UeQueue::head() const {
  if (serving_) return *serving_;
  return waiting_[0].empty() ? waiting_[1].front() : waiting_[0].front();
}

Bytes UeQueue::head_bytes_left() const {
  const Waiting& first = head();
  return std::max(Bytes(0), Bytes(first.length) - head_sent_);
}

void UeQueue::pull(Instant now) {
  // A packet that comes in this very instant misses it, also when it is of a short flow and a long one waits behind.
  const bool short_ready = waiting_[1].empty() || (!waiting_[0].empty() && waiting_[0].front().enqueued < now);
  serving_ = waiting_[short_ready ? 0 : 1].pop();
  head_sent_ = Bytes(0);
}

Bytes UeQueue::transmit(Bytes most, Instant now) {
  integrate(now);
  if (!serving_) pull(now);
  const Bytes before = head_bytes_left();
  const Bytes amount = std::min(most, head_left());
  head_sent_ += amount;
  air_bytes_ -= amount;
  const Bytes went = before - head_bytes_left();
  bytes_ -= went;
  counters_.transmitted_bytes += static_cast<std::uint64_t>(went.count());
  return amount;
}

Departed UeQueue::take(Instant now) {
  Waiting gone = std::move(*serving_);
  serving_.reset();
  head_sent_ = Bytes(0);
  if (!gone.is_short) classes_.long_gone(gone.packet.bytes());
  ++counters_.transmitted_packets;
  return {std::move(gone.packet), Bytes(gone.length), Bytes(gone.air), gone.enqueued, now - gone.enqueued};
}

// Bytes of it that went before were transmitted; only the rest is dropped or handed on, so that the counters add up.
UeQueue::Taken UeQueue::take_head(Instant now) {
  integrate(now);
  if (!serving_) pull(now);
  Taken taken{{}, head_bytes_left(), head_left()};
  bytes_ -= taken.unsent;
  air_bytes_ -= taken.unsent_air;
  taken.waiting = std::move(*serving_);
  serving_.reset();
  head_sent_ = Bytes(0);
  if (!taken.waiting.is_short) classes_.long_gone(taken.waiting.packet.bytes());
  return taken;
}

UeQueue::Waiting UeQueue::drop_head(Instant now) {
  Taken taken = take_head(now);
  ++counters_.dropped_packets;
  counters_.dropped_bytes += static_cast<std::uint64_t>(taken.unsent.count());
  return std::move(taken.waiting);
}

UeQueue::Waiting UeQueue::forward_head(Instant now) {
  Taken taken = take_head(now);
  ++counters_.forwarded_packets;
  counters_.forwarded_bytes += taken.waiting.length;
  counters_.forwarded_air += static_cast<std::uint64_t>(taken.unsent_air.count());
  counters_.recalled_bytes += taken.waiting.length - static_cast<std::uint64_t>(taken.unsent.count());
  return std::move(taken.waiting);
}

void UeQueue::recall(Bytes length) {
  ++counters_.forwarded_packets;
  counters_.forwarded_bytes += static_cast<std::uint64_t>(length.count());
  counters_.recalled_bytes += static_cast<std::uint64_t>(length.count());
}

void UeQueue::pass_on(Bytes length) {
  count_arrival(length);
  ++counters_.forwarded_packets;
  counters_.forwarded_bytes += static_cast<std::uint64_t>(length.count());
  counters_.forwarded_air += static_cast<std::uint64_t>(on_air(length).count());
}

void UeQueue::turn_away(Bytes length) {
  count_arrival(length);
  ++counters_.dropped_packets;
  counters_.dropped_bytes += static_cast<std::uint64_t>(length.count());
}

void UeQueue::integrate(Instant now) {
  counters_.air_seconds += static_cast<double>(air_bytes_.count()) * to_seconds(now - integrated_);
  integrated_ = now;
}

QueueCounters UeQueue::counters(Instant now) const {
  QueueCounters result = counters_;
  result.air_seconds += static_cast<double>(air_bytes_.count()) * to_seconds(now - integrated_);
  return result;
}

std::uint32_t UeQueue::frames() const {
  if (config_.frame == Bytes(0)) return 0;
  const std::int64_t frame = config_.frame.count();
  return static_cast<std::uint32_t>((air_bytes_.count() + frame - 1) / frame);
}

Bytes UeQueue::buffer() const {
  const auto limit = static_cast<std::int64_t>(config_.limit);
  switch (config_.unit) {
    case BufferUnit::frames:
      return config_.frame * limit;
    case BufferUnit::bytes:
      return Bytes(limit);
    case BufferUnit::packets:
      return config_.packet * limit;
  }
  return {};
}

}  // namespace sluice::emulator

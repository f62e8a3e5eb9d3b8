#include "emulator/cell/ue_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {
namespace {

std::unique_ptr<WaitingLine> make_line(const QueueConfig& config) {
  if (config.management == QueueManagement::none) {
    if (config.order == QueueOrder::fifo) return std::make_unique<FifoLine>(config.drop);
    return std::make_unique<ShortFlowsFirstLine>();
  }
  if (config.order != QueueOrder::fifo) {
    throw std::invalid_argument("radio queue: active queue management needs the order fifo");
  }
  CodelParameters codel = config.codel;
  codel.max_packet = config.packet;
  if (config.management == QueueManagement::codel) return std::make_unique<CodelLine>(config.drop, codel);
  FqCodelParameters flows;
  flows.codel = codel;
  flows.quantum = config.packet;
  return std::make_unique<FqCodelLine>(flows);
}

}  // namespace

UeQueue::UeQueue(const QueueConfig& config) : config_(config), classes_(config.flows), line_(make_line(config)) {
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
      return line_->size();
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

Waiting UeQueue::arrive(packet::Packet packet, Bytes length, Instant now) {
  const Bytes air = on_air(length);
  count_arrival(length);
  const bool is_short = config_.order == QueueOrder::fifo || classes_.is_short(packet.bytes(), length, now);
  return {{std::move(packet), now},
          static_cast<std::uint32_t>(length.count()),
          static_cast<std::uint32_t>(air.count()),
          is_short};
}

/// A packet that waited goes.
void UeQueue::drop(const Waiting& gone, Instant now) {
  integrate(now);
  bytes_ -= size_of(gone);
  change_air(-Bytes(gone.air));
  refuse(gone);
}

void UeQueue::refuse(const Waiting& waiting) {
  if (!waiting.is_short) classes_.long_gone(waiting.packet.bytes());
  ++counters_.dropped_packets;
  counters_.dropped_bytes += waiting.length;
}

void UeQueue::admit(Waiting waiting, Instant now) {
  integrate(now);
  bytes_ += Bytes(waiting.length);
  change_air(Bytes(waiting.air));
  counters_.most_air = std::max(counters_.most_air, static_cast<std::uint64_t>(air_bytes_.count()));
  line_->push(std::move(waiting));
}

Bytes UeQueue::head_bytes_left() const {
  return std::max(Bytes(0), size_of(*serving_) - head_sent_);
}

void UeQueue::pull(Instant now) {
  serving_ = line_->next(now, interventions_);
  head_sent_ = Bytes(0);
  for (const Waiting& gone : interventions_.dropped) drop(gone, now);
  counters_.early_packets += interventions_.dropped.size();
  counters_.marked_packets += std::exchange(interventions_.marked, 0);
}

Bytes UeQueue::transmit(Bytes most, Instant now) {
  integrate(now);
  const Bytes before = head_bytes_left();
  const Bytes amount = std::min(most, head_left());
  head_sent_ += amount;
  change_air(-amount);
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
  return {std::move(gone.packet), size_of(gone), Bytes(gone.air), gone.since, now - gone.since};
}

// Bytes of it that went before were transmitted; only the rest is dropped or handed on, so that the counters add up.
UeQueue::Taken UeQueue::take_head(Instant now) {
  integrate(now);
  if (!serving_) {
    serving_ = line_->pop(now);
    head_sent_ = Bytes(0);
  }
  Taken taken{{}, head_bytes_left(), head_left()};
  bytes_ -= taken.unsent;
  change_air(-taken.unsent_air);
  taken.waiting = std::move(*serving_);
  serving_.reset();
  head_sent_ = Bytes(0);
  if (!taken.waiting.is_short) classes_.long_gone(taken.waiting.packet.bytes());
  return taken;
}

Waiting UeQueue::drop_head(Instant now) {
  Taken taken = take_head(now);
  ++counters_.dropped_packets;
  counters_.dropped_bytes += static_cast<std::uint64_t>(taken.unsent.count());
  return std::move(taken.waiting);
}

Waiting UeQueue::forward_head(Instant now) {
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

void UeQueue::change_air(Bytes by) {
  air_bytes_ += by;
  if (config_.frame == Bytes(0)) return;
  const std::int64_t frame = config_.frame.count();
  frames_ = static_cast<std::uint32_t>((air_bytes_.count() + frame - 1) / frame);
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

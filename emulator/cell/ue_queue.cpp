#include "emulator/cell/ue_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {

UeQueue::UeQueue(const QueueConfig& config) : config_(config) {
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
  const bool in_transit = !packets_.empty() && head_left_ < Bytes(packets_.front().air);
  switch (config_.unit) {
    case BufferUnit::frames:
      return frames();
    case BufferUnit::bytes:
      return static_cast<std::uint64_t>((bytes_ - (in_transit ? head_bytes_left() : Bytes(0))).count());
    case BufferUnit::packets:
      return packets_.size() - (in_transit ? 1 : 0);
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

bool UeQueue::push(packet::Packet packet, Bytes length, Instant now) {
  const auto size = static_cast<std::uint64_t>(length.count());
  ++counters_.arrived_packets;
  counters_.arrived_bytes += size;
  const Bytes air = on_air(length);
  counters_.arrived_air += static_cast<std::uint64_t>(air.count());
  if (!has_room(length)) {
    ++counters_.dropped_packets;
    counters_.dropped_bytes += size;
    return false;
  }
  if (packets_.empty()) head_left_ = air;
  packets_.push(
      {std::move(packet), now, static_cast<std::uint32_t>(length.count()), static_cast<std::uint32_t>(air.count())});
  bytes_ += length;
  air_bytes_ += air;
  return true;
}

Bytes UeQueue::head_bytes_left() const {
  if (packets_.empty()) return {};
  const Waiting& head = packets_.front();
  return std::max(Bytes(0), head_left_ - Bytes(head.air - head.length));
}

Bytes UeQueue::transmit(Bytes most) {
  const Bytes before = head_bytes_left();
  const Bytes amount = std::min(most, head_left_);
  head_left_ -= amount;
  air_bytes_ -= amount;
  const Bytes went = before - head_bytes_left();
  bytes_ -= went;
  counters_.transmitted_bytes += static_cast<std::uint64_t>(went.count());
  return amount;
}

Departed UeQueue::take(Instant now) {
  Waiting head = packets_.pop();
  head_left_ = packets_.empty() ? Bytes(0) : Bytes(packets_.front().air);
  ++counters_.transmitted_packets;
  return {std::move(head.packet), Bytes(head.length), Bytes(head.air), head.enqueued, now - head.enqueued};
}

Bytes UeQueue::drop_head() {
  // Bytes of it that went before were transmitted; only the rest is dropped, so that the counters still add up.
  const Bytes rest = head_bytes_left();
  bytes_ -= rest;
  air_bytes_ -= head_left_;
  const Waiting head = packets_.pop();
  head_left_ = packets_.empty() ? Bytes(0) : Bytes(packets_.front().air);
  ++counters_.dropped_packets;
  counters_.dropped_bytes += static_cast<std::uint64_t>(rest.count());
  return Bytes(head.length);
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
      return Bytes(1500) * limit;
  }
  return {};
}

}  // namespace sluice::emulator

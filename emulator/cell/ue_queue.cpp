// Implements UeQueue: the radio queue of one UE, with its buffer limit, drop policy and queue management. Downlink,
// UplinkRadio and UplinkUe push packets and serve transmission opportunities. The order of packets is in the
// RadioQdisc that make_qdisc() chooses; the packet in transit is kept beside it. Every movement is counted in the
// QueueLedger, so arrived = transmitted + dropped + (forwarded − recalled) + queued holds.

#include "emulator/cell/ue_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {
namespace {

/// Returns the queue discipline that the configuration selects.
std::unique_ptr<RadioQdisc> make_qdisc(const QueueConfig& config) {
  if (config.management == QueueManagement::none) {
    if (config.order == QueueOrder::fifo) return std::make_unique<FifoQdisc>(config.drop);
    return std::make_unique<ShortFlowsFirstQdisc>();
  }
  if (config.order != QueueOrder::fifo) {
    throw std::invalid_argument("radio queue: active queue management needs the order fifo");
  }
  CodelParameters codel = config.codel;
  codel.max_packet = config.packet;
  switch (config.management) {
    case QueueManagement::codel:
      return std::make_unique<CodelQdisc>(config.drop, codel);
    case QueueManagement::dualpi2: {
      DualPi2Parameters dualpi2 = config.dualpi2;
      dualpi2.max_packet = config.packet;
      return std::make_unique<DualPi2Qdisc>(dualpi2);
    }
    case QueueManagement::abc:
      return std::make_unique<AbcQdisc>(config.drop, config.abc);
    case QueueManagement::none:
    case QueueManagement::fq_codel:
      break;
  }
  FqCodelParameters flows;
  flows.codel = codel;
  flows.quantum = config.packet;
  return std::make_unique<FqCodelQdisc>(flows);
}

}  // namespace

Bytes QueueConfig::on_air(Bytes length) const {
  if (frame == Bytes(0)) return length;
  const std::int64_t size = frame.count();
  return Bytes((length.count() + size - 1) / size * size);
}

std::uint64_t QueueConfig::taken_by(Bytes length) const {
  switch (unit) {
    case BufferUnit::frames:
      return static_cast<std::uint64_t>(on_air(length).count() / frame.count());
    case BufferUnit::bytes:
      return static_cast<std::uint64_t>(length.count());
    case BufferUnit::packets:
      return 1;
  }
  return 0;
}

Bytes QueueConfig::buffer() const {
  const auto size = static_cast<std::int64_t>(limit);
  switch (unit) {
    case BufferUnit::frames:
      return frame * size;
    case BufferUnit::bytes:
      return Bytes(size);
    case BufferUnit::packets:
      return packet * size;
  }
  return {};
}

UeQueue::UeQueue(const QueueConfig& config)
    : config_(config), classes_(config.flows), qdisc_(make_qdisc(config)), ledger_(config.frame) {
  if (config.frame < Bytes(0) || (config.unit == BufferUnit::frames && config.frame == Bytes(0))) {
    throw std::invalid_argument("radio queue: the frame size must be above 0 if the buffer is counted in frames");
  }
}

std::uint64_t UeQueue::used_buffer() const {
  switch (config_.unit) {
    case BufferUnit::frames:
      return frames();
    case BufferUnit::bytes:
      return static_cast<std::uint64_t>((bytes() - (head_ ? head_.left() : Bytes(0))).count());
    case BufferUnit::packets:
      return qdisc_->size();
  }
  return 0;
}

/// Counts an arriving packet of `length` IP bytes and classifies its flow. Returns the packet with its arrival time,
/// its sizes and the class of its flow.
QueuedPacket UeQueue::arrive(packet::Packet&& packet, Bytes length, Instant now) {
  const Bytes air = config_.on_air(length);
  ledger_.arrived(length, air);
  const bool is_short = config_.order == QueueOrder::fifo || classes_.is_short(packet.bytes(), length, now);
  return {{std::move(packet), now},
          static_cast<std::uint32_t>(length.count()),
          static_cast<std::uint32_t>(air.count()),
          is_short};
}

/// Removes a queued packet from the counted contents of the queue, and counts it as dropped.
void UeQueue::drop(const QueuedPacket& gone, Instant now) {
  ledger_.left(size_of(gone), Bytes(gone.air), now);
  refuse(gone);
}

/// Counts a packet as dropped. Call it for a packet that was never queued, or after the packet's bytes were subtracted
/// from the contents of the queue.
void UeQueue::refuse(const QueuedPacket& waiting) {
  forget_class(waiting);
  ledger_.dropped(size_of(waiting));
}

/// Takes the next packet out of the queue to transmit it, and counts what active queue management dropped and marked.
void UeQueue::pull(Instant now) {
  head_.begin(qdisc_->next(now, aqm_actions_));
  for (const QueuedPacket& gone : aqm_actions_.dropped) drop(gone, now);
  ledger_.intervened(aqm_actions_.dropped.size(), std::exchange(aqm_actions_.marked, 0));
}

// Bytes sent earlier count as transmitted; only the rest is dropped or forwarded, so that the counters add up.
UeQueue::Taken UeQueue::take_head(Instant now) {
  if (!head_) head_.begin(qdisc_->pop(now));
  const Bytes unsent = head_.left();
  const Bytes unsent_air = head_.air_left();
  ledger_.left(unsent, unsent_air, now);
  Taken taken{head_.take(), unsent, unsent_air};
  forget_class(taken.waiting);
  return taken;
}

QueuedPacket UeQueue::drop_head(Instant now) {
  Taken taken = take_head(now);
  ledger_.dropped(taken.unsent);
  return std::move(taken.waiting);
}

QueuedPacket UeQueue::forward_head(Instant now) {
  Taken taken = take_head(now);
  ledger_.forwarded(size_of(taken.waiting), taken.unsent, taken.unsent_air);
  return std::move(taken.waiting);
}

void UeQueue::pass_on(Bytes length) {
  const Bytes air = config_.on_air(length);
  ledger_.arrived(length, air);
  ledger_.forwarded(length, length, air);
}

void UeQueue::reject(Bytes length) {
  ledger_.arrived(length, config_.on_air(length));
  ledger_.dropped(length);
}

}  // namespace sluice::emulator

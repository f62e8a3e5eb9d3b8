// Fair queue of the packets to one UE that no split connection sends. CrossTrafficSender pushes packets and pops them
// as the radio window opens. Invariant: `packets_`, `bytes_` and `flows_` are the sums over all slots, and a slot with
// packets is in exactly one list unless it is held back. Deficit round robin with new and old flows follows RFC 8290
// section 4.
#include "proxy/engine/bearer/flow_queue.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/ecn_field.hpp"

namespace sluice::proxy {
namespace {

/// Quantum of the deficit round robin: number of IP bytes that a flow may send before the next flow is served.
constexpr std::int32_t quantum = 1500;
/// Waiting time above which a packet with ECT(1) gets a CE mark, because its sender expects early marks (RFC 9331).
constexpr Duration shallow_threshold = std::chrono::milliseconds(5);

/// Time after which a flow without waiting packets counts as sparse again, although its slot is still in a list. It is
/// the interval of CoDel in RFC 8290 section 5.2. Without this rule a slot keeps its place while nothing is popped. A
/// ping would then wait behind the other flows while the window is full.
constexpr Duration renewal = std::chrono::milliseconds(100);
/// Largest number of slots that become sparse again by this rule within the time `renewal`. Sparse slots are served
/// first, so more of them could leave nothing of a slow link to the other flows.
constexpr std::uint8_t max_renewals = 2;

constexpr std::uint8_t keep_flag = 1;

}  // namespace

void FlowQueue::push(packet::Packet&& packet, const QueuedPacket& about, Instant now) {
  const auto slot = static_cast<std::uint8_t>(about.slot % slots);
  packet::PacketNote& note = packet.note();
  note.received = now;
  note.payload_len = about.bytes;
  note.header_len = about.ip_offset;
  note.payload_sum = about.reason;
  note.flags = about.keep ? keep_flag : 0;
  Flow& flow = flow_[slot];
  if (flow.packets.empty()) {
    ++flows_;
    if (flow.listed && now - flow.new_since >= renewal && may_renew(now)) unlist(slot);
  }
  if (!flow.listed && slot != held_) {
    flow.listed = true;
    flow.deficit = quantum;
    flow.new_since = now;
    new_.push(slot);
  }
  flow.packets.push_back(std::move(packet));
  flow.bytes += about.bytes;
  bytes_ += Bytes(about.bytes);
  ++packets_;
}

/// True if one more slot may become sparse again now. Counts it.
bool FlowQueue::may_renew(Instant now) {
  if (now - renewals_since_ >= renewal) {
    renewals_since_ = now;
    renewals_ = 0;
  }
  if (renewals_ >= max_renewals) return false;
  ++renewals_;
  return true;
}

void FlowQueue::hold(std::uint32_t slot) {
  const auto held = static_cast<std::uint8_t>(slot % slots);
  if (held == held_) return;
  release();
  held_ = held;
  if (flow_[held].listed) unlist(held);
}

void FlowQueue::unlist(std::uint8_t slot) {
  new_.remove(slot);
  old_.remove(slot);
  flow_[slot].listed = false;
}

void FlowQueue::release() {
  if (held_ == none) return;
  const std::uint8_t slot = std::exchange(held_, none);
  if (flow_[slot].packets.empty()) return;
  flow_[slot].listed = true;
  old_.push(slot);
}

std::uint8_t FlowQueue::select() {
  while (true) {
    const bool from_new = !new_.empty();
    SlotList& list = from_new ? new_ : old_;
    const std::uint8_t slot = list.front();
    Flow& flow = flow_[slot];
    if (flow.deficit > 0 && !flow.packets.empty()) return slot;
    list.pop();
    if (flow.deficit <= 0) {
      flow.deficit += quantum;
      old_.push(slot);
    } else if (from_new && !old_.empty()) {
      old_.push(slot);  // an empty new flow waits a round, so that it cannot be new again at once
    } else {
      flow.listed = false;
    }
  }
}

Bytes FlowQueue::next_bytes() {
  return Bytes(flow_[select()].packets.front().note().payload_len);
}

bool FlowQueue::next_is_sparse() {
  static_cast<void>(select());
  return !new_.empty();
}

FlowQueue::Popped FlowQueue::take(std::uint8_t slot) {
  Flow& flow = flow_[slot];
  Popped popped;
  popped.packet = flow.packets.pop_front();
  const packet::PacketNote& note = popped.packet.note();
  popped.about.slot = slot;
  popped.about.bytes = note.payload_len;
  popped.about.ip_offset = static_cast<std::uint8_t>(note.header_len);
  popped.about.reason = note.payload_sum;
  popped.about.keep = (note.flags & keep_flag) != 0;
  flow.bytes -= popped.about.bytes;
  bytes_ -= Bytes(popped.about.bytes);
  --packets_;
  if (flow.packets.empty()) --flows_;
  return popped;
}

FlowQueue::Popped FlowQueue::pop(const CodelParameters& parameters, Instant now) {
  const std::uint8_t slot = select();
  Flow& flow = flow_[slot];
  Popped popped = take(slot);
  const Duration sojourn = now - popped.packet.note().received;
  std::uint8_t* const ip = popped.packet.data() + popped.about.ip_offset;
  const std::uint8_t ecn = packet::ecn_field(ip);
  const bool congested = flow.codel.should_drop(parameters, sojourn, Bytes(flow.bytes), now);
  if (congested && ecn == packet::EcnField::not_ect && !popped.about.keep) {
    popped.dropped = true;
    return popped;
  }
  flow.deficit -= popped.about.bytes;
  if (congested || (ecn == packet::EcnField::ect1 && sojourn > shallow_threshold)) {
    popped.marked = packet::mark_congestion_experienced(ip) && ecn != packet::EcnField::congestion_experienced;
  }
  return popped;
}

bool FlowQueue::must_keep_head(const QueuedPacket& about) const {
  return (flow_[about.slot % slots].packets.front().note().flags & keep_flag) != 0;
}

void FlowQueue::drop_oldest(const QueuedPacket& about) {
  take(static_cast<std::uint8_t>(about.slot % slots)).packet.reset();
}

FlowQueue::Popped FlowQueue::pop_untested() {
  const std::uint8_t slot = select();
  Popped popped = take(slot);
  flow_[slot].deficit -= popped.about.bytes;
  return popped;
}

}  // namespace sluice::proxy

// Delayed ACKs of connections that pass end to end: queue, release and maximum delay. EndToEndFlows calls it for ACKs,
// reports and timers. Invariant: ACKs of a connection leave in order of arrival, each with a window that is rewritten
// when it leaves.
#include "proxy/engine/end_to_end/held_acks.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

/// Number of flows that one call of free_some() scans for delayed ACKs when packet buffers are scarce. Packets are
/// processed between the calls.
constexpr std::uint32_t free_step = 128;

/// Data that is stored in the packet buffer of a delayed ACK: the offset of its TCP header, and the number of bytes of
/// the stream that it acknowledges.
struct HeldAck {
  packet::PacketNote& note;
  [[nodiscard]] std::uint16_t l4_offset() const { return static_cast<std::uint16_t>(note.scratch32); }
  [[nodiscard]] Bytes ack() const { return Bytes(note.scratch64); }
};

}  // namespace

void HeldAcks::hold(EndToEndFlow& flow, EndToEndId id, packet::Packet&& packet, std::uint16_t l4_offset, Bytes ack,
                    Instant now) {
  packet::PacketNote& note = packet.note();
  note.received = now;
  note.scratch32 = l4_offset;
  note.scratch64 = static_cast<std::uint64_t>(ack.count());
  if (flow.held.empty()) join_holding(flow, id);
  flow.held.push_back(std::move(packet));
  ++flow.held_count;
  ++waiting_;
  parts_.budget.on_taken();
  parts_.counters.add(Counter::acks_held);
}

void HeldAcks::release(EndToEndFlow& flow, EndToEndId id, const control::AckRelease& release, Instant now) {
  std::size_t at_least = release.at_least;
  while (!flow.held.empty()) {
    if (HeldAck{flow.held.front().note()}.ack() > release.up_to) {
      if (at_least == 0) return;
    }
    if (at_least > 0) --at_least;
    release_front(flow, id, now);
  }
}

void HeldAcks::release_front(EndToEndFlow& flow, EndToEndId id, Instant now) {
  packet::Packet packet = flow.held.pop_front();
  const HeldAck held{packet.note()};
  --flow.held_count;
  --waiting_;
  if (flow.held.empty()) leave_holding(flow, id);
  rewriter_.rewrite(flow, Side::radio, packet, held.l4_offset(), held.ack(), now);
  parts_.queue.push(Side::core, std::move(packet), now);
}

void HeldAcks::join_holding(EndToEndFlow& flow, EndToEndId id) {
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  flow.holding_previous = no_id;
  flow.holding_next = bearer.first_holding;
  if (bearer.first_holding != no_id) flows_[bearer.first_holding].holding_previous = id;
  bearer.first_holding = id;
}

void HeldAcks::leave_holding(EndToEndFlow& flow, EndToEndId id) {
  Bearer& bearer = parts_.registry.bearer(flow.bearer);
  if (bearer.first_holding == id) bearer.first_holding = flow.holding_next;
  if (flow.holding_previous != no_id) flows_[flow.holding_previous].holding_next = flow.holding_next;
  if (flow.holding_next != no_id) flows_[flow.holding_next].holding_previous = flow.holding_previous;
  flow.holding_next = flow.holding_previous = no_id;
}

void HeldAcks::free_some(Instant now) {
  for (std::uint32_t step = 0; step < free_step && waiting_ > 0; ++step, ++next_freed_) {
    if (next_freed_ >= flows_.high_watermark()) next_freed_ = 0;
    if (!flows_.contains(next_freed_) || flows_[next_freed_].held.empty()) continue;
    parts_.counters.add(Counter::acks_freed, flows_[next_freed_].held_count);
    release(flows_[next_freed_], next_freed_, control::AckRelease::all(), now);
  }
}

void HeldAcks::on_report(Bearer& bearer, Instant now) {
  for (EndToEndId next = bearer.first_holding; next != no_id;) {
    const EndToEndId holding = next;
    EndToEndFlow& flow = flows_[holding];
    next = flow.holding_next;
    if (flow.controller && bearer.rate_control().has_flow_windows())
      release(flow, holding, flow.controller->on_report(bearer, now), now);
  }
}

void HeldAcks::release_overdue(EndToEndFlow& flow, EndToEndId id, Instant now) {
  while (due(flow) <= now) {
    parts_.counters.add(Counter::acks_overdue);
    release_front(flow, id, now);
  }
}

Instant HeldAcks::due(const EndToEndFlow& flow) const {
  if (flow.held.empty()) return never;
  return flow.held.front().note().received + parts_.registry.bearer(flow.bearer).settings().laws.max_ack_delay;
}

}  // namespace sluice::proxy

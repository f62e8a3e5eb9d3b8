// Output of a split leg: turns a segment of a tcp::Endpoint into a frame with headers, in the name of the host that the
// leg represents. tcp::Endpoint::emit_due() calls transmit() and acknowledge(), the cut-through calls cut_through().
// Every IP byte queued on the radio port is counted in the bearer, if any bearer of the UE counts.
#include "proxy/engine/relay/leg_output.hpp"

#include <utility>

#include "proxy/engine/base/reset_note.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

inline packet::Packet LegOutput::allocate() {
  packet::Packet frame = shard_.pool.allocate();
  if (!frame) [[unlikely]]
    shard_.counters.add(Counter::buffers_exhausted);
  return frame;
}

packet::Packet LegOutput::frame_for(packet::Packet* payload, const tcp::Segment& segment) {
  if (payload == nullptr) {
    packet::Packet frame = allocate();
    if (segment.flags.rst() && frame) [[unlikely]]
      note_reset(frame, segment);
    return frame;
  }
  // The device still holds an earlier transmission of this buffer, so no retransmission is needed yet.
  if (payload->shared()) [[unlikely]]
    return {};
  if (const auto before = static_cast<std::uint16_t>(payload->size() - segment.payload_len); before != 0) [[unlikely]] {
    payload->trim_front(before);
  }
  return payload->share();
}

void LegOutput::note_reset(const packet::Packet& frame, const tcp::Segment& reset) const {
  proxy::note_reset(frame, reset.seq, relay::reset_reason(flow_));
}

std::uint16_t LegOutput::next_of_ue() {
  return shard_.fragment_ids.next(flow_.bearer);
}

void LegOutput::cut_through(const packet::Parsed& parsed, const tcp::CutThroughHeader& header, packet::Packet& frame,
                            Instant now) {
  packet::write_cut_through(frame, parsed, header);
  const Bytes ip_size(parsed.ip_length);
  if (bearer_ != nullptr) {
    bearer_->on_sent(now, ip_size);
    bearer_->framing.sent(Bytes(parsed.segment.payload_len), control::OnWire(ip_size));
  }
  cut_through_bytes_ += ip_size;
  shard_.queue.push(side_, frame.share(), now);
}

std::uint32_t LegOutput::transmit(const tcp::Segment& segment, packet::Packet* payload, Instant now) {
  packet::Packet frame = frame_for(payload, segment);
  if (!frame) return 0;
  packet::PacketNote& note = frame.note();
  const std::uint16_t sum = payload != nullptr ? note.payload_sum : std::uint16_t{0};
  note.header_len = packet::write_headers(frame, leg_.headers, addresses(), segment, sum, next_ip_id());
  if (!shard_.queue.carries(side_, frame)) [[unlikely]] {
    shard_.counters.add(Counter::segments_too_long);
    return 0;
  }
  const std::uint32_t ip_size = packet::ip_size(leg_.headers, frame);
  if (bearer_ != nullptr) {
    bearer_->on_sent(now, Bytes(ip_size));
    if (segment.payload_len != 0) bearer_->framing.sent(Bytes(segment.payload_len), control::OnWire(Bytes(ip_size)));
  }
  shard_.queue.push(side_, std::move(frame), now);
  return ip_size;
}

std::uint32_t LegOutput::acknowledge(const tcp::Acknowledgement& ack, Instant now) {
  if (leg_.headers.ip_version != 4 || !ack.has_timestamps) [[unlikely]]
    return transmit(ack.segment(), nullptr, now);
  packet::Packet frame = allocate();
  if (!frame) [[unlikely]]
    return 0;
  packet::write_acknowledgement(frame, leg_.headers, addresses(), ack, next_ip_id());
  const std::uint32_t ip_size = packet::ip_size(leg_.headers, frame);
  if (bearer_ != nullptr) bearer_->on_sent(now, Bytes(ip_size));
  shard_.queue.push(side_, std::move(frame), now);
  return ip_size;
}

namespace {

/// Returns the length in bytes of the IP and TCP headers of a data segment without SACK blocks.
std::uint32_t header_on_wire(const Leg& leg) {
  return packet::data_header_in_ip(leg.headers, leg.endpoint.uses_timestamps());
}

}  // namespace

std::uint32_t LegOutput::wire_size(std::uint32_t payload_len) const {
  return header_on_wire(leg_) + payload_len;
}

Bytes segment_on_wire(const Leg& leg) {
  return Bytes(header_on_wire(leg)) + Bytes(leg.endpoint.effective_mss());
}

Bytes on_wire(const Leg& leg, Bytes payload) {
  // Payload is below 4 GiB, and a 32-bit division takes half the time of a 64-bit one.
  const std::uint32_t segment = leg.endpoint.effective_mss();
  const std::uint32_t segments = (static_cast<std::uint32_t>(payload.count()) + segment - 1) / segment;
  return payload + Bytes(std::uint64_t{header_on_wire(leg)} * segments);
}

}  // namespace sluice::proxy

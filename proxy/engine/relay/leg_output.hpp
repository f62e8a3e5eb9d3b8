#pragma once

#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/output.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow_table/context.hpp"

namespace sluice::proxy {

/// Returns source and destination address of packets that the proxy sends on `side`. On the radio side the server is
/// the source, on the core side the UE is. The result must not outlive `key`.
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::FlowKey& key) {
  if (side == Side::radio) return {key.server, key.ue, key.server_port, key.ue_port};
  return {key.ue, key.server, key.ue_port, key.server_port};
}
/// Returns source and destination address of packets that the proxy sends on `side`. `key` is a view of the
/// connection's key in a KeyStore. The result is valid as long as that view.
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::KeyView& key) {
  if (side == Side::radio) return {key.server_end, key.ue_end, key.server_port, key.ue_port};
  return {key.ue_end, key.server_end, key.ue_port, key.server_port};
}

/// Output of the TCP endpoint of one leg (the proxy's connection to one host). Writes packet headers in the name of the
/// other host, and queues the frames on the port. The object exists only while the leg sends.
class LegOutput final : public tcp::Output {
 public:
  /// Creates the output for the flow's leg on `side`. `bearer` counts the bytes sent to the UE; null if no bearer of
  /// the UE counts them.
  LegOutput(Flow& flow, Side side, Bearer* bearer, const ShardContext& shard)
      : flow_(flow),
        leg_(flow.leg(side)),
        side_(side),
        bearer_(side == Side::radio ? bearer : nullptr),
        shard_(shard) {}

  /// Queues a received data segment for transmission in the frame in which it was received, with the fields of `header`
  /// rewritten (cut-through). Requires a correct checksum and packet::can_cut_through().
  void cut_through(const packet::Parsed& parsed, const tcp::CutThroughHeader& header, packet::Packet& frame,
                   Instant now);
  /// Returns how many IP bytes cut_through() has queued in the frames in which they were received.
  [[nodiscard]] Bytes cut_through_bytes() const { return cut_through_bytes_; }
  /// Writes and queues a segment. `payload` is null if the segment has no payload. Returns the segment's IP bytes.
  /// Returns 0 if no buffer is free, if the device still uses `payload`, or if the segment is too long for the port.
  [[gnu::flatten, gnu::noinline]] std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload,
                                                         Instant now) override;
  /// Writes and queues a segment without payload that only acknowledges. Returns its IP bytes, or 0 if no buffer is
  /// free.
  std::uint32_t acknowledge(const tcp::Acknowledgement& ack, Instant now) override;
  /// Returns the IP bytes of a data segment that carries `payload_len` bytes.
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override;
  /// True if a new buffer may be used to split a queued segment into two. Normally the buffer must come from the packet
  /// buffers for payload. If `only` is true, the connection has no byte in flight and would stall. Half of the buffers
  /// that are reserved for receiving and forwarding may then be used too.
  [[nodiscard]] bool grant_cut(bool only) override {
    if (shard_.budget.is_exhausted() && (!only || shard_.budget.reserve_touched())) return false;
    shard_.budget.on_taken();
    return true;
  }

 private:
  /// Allocates the packet buffer of a new frame. If the pool is exhausted, counts the failure and returns an empty
  /// handle.
  [[nodiscard]] packet::Packet allocate();
  /// Returns the identification for the next IPv4 packet. Packets without DF use a counter that all connections of the
  /// UE share. Therefore the values of packets between two hosts differ for as long as possible (RFC 6864 section 4.3).
  [[nodiscard]] std::uint16_t next_ip_id() { return leg_.headers.dont_fragment ? leg_.ip_id++ : next_of_ue(); }
  /// Returns the next IPv4 identification from the counter that all connections of the UE share.
  [[gnu::cold, gnu::noinline]] std::uint16_t next_of_ue();
  /// Returns the source and destination address of packets of this leg.
  [[nodiscard]] packet::AddressesView addresses() const {
    return addresses_towards(side_, shard_.registry.view_of(flow_, leg_.headers.ip_version));
  }
  /// Writes the reason of a RST into its packet buffer, so that captures can show it.
  [[gnu::cold, gnu::noinline]] void note_reset(const packet::Packet& frame, const tcp::Segment& reset) const;
  /// Returns a frame for `segment`: the buffer of its payload, or a new buffer for a segment without payload. Returns
  /// an empty handle if the pool is exhausted or the device still uses the payload's buffer.
  [[nodiscard]] packet::Packet frame_for(packet::Packet* payload, const tcp::Segment& segment);

  Flow& flow_;
  Leg& leg_;  ///< leg of the flow whose segments this object writes
  Side side_;
  Bearer* bearer_;  ///< bearer that counts the bytes sent to the UE; null on the core side, or if no bearer counts them
  Bytes cut_through_bytes_{};
  const ShardContext& shard_;
};

/// Returns the IP bytes of a full-sized segment of this leg.
[[nodiscard]] Bytes segment_on_wire(const Leg& leg);
/// Returns the IP bytes that `payload` bytes occupy in full-sized segments of this leg.
[[nodiscard]] Bytes on_wire(const Leg& leg, Bytes payload);
/// Returns the IP bytes that the leg has in flight, as if all its segments were full-sized.
[[nodiscard]] inline Bytes flight_on_wire(const Leg& leg) {
  return on_wire(leg, leg.endpoint.in_flight());
}

}  // namespace sluice::proxy

#pragma once

#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/output.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow_table/context.hpp"

namespace sluice::proxy {

/// Returns source and destination of packets sent on a side. Packets to the radio have the server as source, packets to
/// the core have the UE. The view must not outlive `key`.
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::FlowKey& key) {
  if (side == Side::radio) return {key.server, key.ue, key.server_port, key.ue_port};
  return {key.ue, key.server, key.ue_port, key.server_port};
}
/// Returns source and destination of packets sent on a side, from a connection's key in the form of the lookup table.
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::KeyView& key) {
  if (side == Side::radio) return {key.server_end, key.ue_end, key.server_port, key.ue_port};
  return {key.ue_end, key.server_end, key.ue_port, key.server_port};
}

/// Output of one leg's endpoint: writes headers on behalf of the host that the leg represents, and queues the frames on
/// the port. The object exists on the stack while the leg is served.
class LegOutput final : public tcp::Output {
 public:
  /// Prepares the output of the flow's leg on `side`. `bearer` (the state of the UE) counts bytes sent to the radio;
  /// null if no bearer of the UE counts them.
  LegOutput(Flow& flow, Side side, Bearer* bearer, const ShardContext& shard)
      : flow_(flow),
        leg_(flow.leg(side)),
        side_(side),
        bearer_(side == Side::radio ? bearer : nullptr),
        shard_(shard) {}

  /// Queues a received data segment for transmission in the frame in which it was received (cut-through). Requires a
  /// good checksum and packet::can_cut_through().
  void cut_through(const packet::Parsed& parsed, const tcp::CutThroughHeader& header, packet::Packet& frame,
                   Instant now);
  /// Returns the IP bytes that cut_through() has queued.
  [[nodiscard]] Bytes cut_through_bytes() const { return cut_through_bytes_; }
  /// Writes and queues one segment; `payload` is null if it has none. Returns its IP bytes. Returns 0 if no buffer is
  /// free, the device still holds `payload`, or the port cannot carry the length.
  [[gnu::flatten, gnu::noinline]] std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload,
                                                         Instant now) override;
  /// Writes and queues a segment that only acknowledges. Returns its IP bytes, or 0 if no buffer is free.
  std::uint32_t acknowledge(const tcp::Acknowledgement& ack, Instant now) override;
  /// Returns the IP bytes of a data segment with `payload_len` bytes of payload.
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override;
  /// True if a buffer may be used to split a queued segment in two. `only` is true if no byte of the connection is in
  /// flight. Half of the reserve of buffers may be used then.
  [[nodiscard]] bool grant_cut(bool only) override {
    if (shard_.budget.is_exhausted() && (!only || shard_.budget.reserve_touched())) return false;
    shard_.budget.on_taken();
    return true;
  }

 private:
  /// Allocates a frame. Returns an empty handle and counts the failure if the pool is exhausted.
  [[nodiscard]] packet::Packet allocate();
  /// Returns the identification of the next IPv4 packet. Without DF, all connections of a UE share one counter. So two
  /// connections never use one value between the same two hosts at a time (RFC 6864 section 4.3).
  [[nodiscard]] std::uint16_t next_ip_id() { return leg_.headers.dont_fragment ? leg_.ip_id++ : next_of_ue(); }
  /// Returns the next IPv4 identification of the counter that all connections of the UE share.
  [[gnu::cold, gnu::noinline]] std::uint16_t next_of_ue();
  /// Returns source and destination of the packets of this leg.
  [[nodiscard]] packet::AddressesView addresses() const {
    return addresses_towards(side_, shard_.registry.view_of(flow_, leg_.headers.ip_version));
  }
  /// Records the reason of a RST in its packet buffer, for captures.
  [[gnu::cold, gnu::noinline]] void note_reset(const packet::Packet& frame, const tcp::Segment& reset) const;
  /// Returns a frame for `segment`: the buffer of the payload, or a new one if there is no payload. Empty if the pool
  /// is exhausted or the device still holds the payload.
  [[nodiscard]] packet::Packet frame_for(packet::Packet* payload, const tcp::Segment& segment);

  Flow& flow_;
  Leg& leg_;  ///< leg of the flow on `side_`
  Side side_;
  Bearer* bearer_;  ///< bearer (UE state) that counts bytes sent to the UE; null on the core leg, or if none counts
  Bytes cut_through_bytes_{};
  const ShardContext& shard_;
};

/// Returns the IP bytes of a full-sized segment of this leg.
[[nodiscard]] Bytes segment_on_wire(const Leg& leg);
/// Returns the IP bytes of `payload` bytes that are sent in full-sized segments of this leg.
[[nodiscard]] Bytes on_wire(const Leg& leg, Bytes payload);
/// Returns the IP bytes that the leg has in flight, assuming full-sized segments.
[[nodiscard]] inline Bytes flight_on_wire(const Leg& leg) {
  return on_wire(leg, leg.endpoint.in_flight());
}

}  // namespace sluice::proxy

#pragma once

#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/output.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/context.hpp"

namespace sluice::proxy {

/// Of what goes out on a side: towards the radio we speak for the server, towards the core for the UE. Outlives no key.
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::FlowKey& key) {
  if (side == Side::radio) return {key.server, key.ue, key.server_port, key.ue_port};
  return {key.ue, key.server, key.ue_port, key.server_port};
}
[[nodiscard]] inline packet::AddressesView addresses_towards(Side side, const flow::KeyView& key) {
  if (side == Side::radio) return {key.server_end, key.ue_end, key.server_port, key.ue_port};
  return {key.ue_end, key.server_end, key.ue_port, key.server_port};
}

/// Puts headers on what one leg's endpoint sends, in the name of the host it stands for, and queues it for the port.
/// Lives on the stack while the leg is served.
class LegOutput final : public tcp::Output {
 public:
  /// `bearer`: told what goes to the radio; null where nobody counts it.
  LegOutput(Flow& flow, Side side, Bearer* bearer, const ShardContext& shard)
      : flow_(flow),
        leg_(flow.leg(side)),
        side_(side),
        bearer_(side == Side::radio ? bearer : nullptr),
        shard_(shard) {}

  /// Queues a data segment in the frame in which it came in. The checksum was good, and packet::can_pass().
  void pass(const packet::Parsed& parsed, const tcp::PassedHeader& header, packet::Packet& frame, Instant now);
  /// IP bytes that were passed.
  [[nodiscard]] Bytes passed() const { return passed_; }
  [[gnu::flatten, gnu::noinline]] std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload,
                                                         Instant now) override;
  std::uint32_t acknowledge(const tcp::Acknowledgement& ack, Instant now) override;
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override;
  [[nodiscard]] bool grant_cut(bool only) override {
    if (shard_.budget.exhausted() && (!only || shard_.budget.reserve_touched())) return false;
    shard_.budget.taken();
    return true;
  }

 private:
  [[nodiscard]] packet::Packet allocate();
  /// Of the next IPv4 packet. Where routers may cut it, all connections of a UE count together, so that two of them do
  /// not use the same number for the same pair of hosts at a time (RFC 6864 section 4.3).
  [[nodiscard]] std::uint16_t next_ip_id() { return leg_.headers.dont_fragment ? leg_.ip_id++ : next_of_ue(); }
  [[gnu::cold, gnu::noinline]] std::uint16_t next_of_ue();
  [[nodiscard]] packet::AddressesView addresses() const {
    return addresses_towards(side_, shard_.registry.view_of(flow_, leg_.headers.ip_version));
  }
  /// Notes why a reset is sent, for captures.
  [[gnu::cold, gnu::noinline]] void note_reset(const packet::Packet& frame, const tcp::Segment& reset) const;
  [[nodiscard]] packet::Packet frame_for(packet::Packet* payload, const tcp::Segment& segment);

  Flow& flow_;
  Leg& leg_;  ///< the flow's on that side
  Side side_;
  Bearer* bearer_;
  Bytes passed_{};
  const ShardContext& shard_;
};

/// A full segment of a leg as an IP packet.
[[nodiscard]] Bytes segment_on_wire(const Leg& leg);
/// So much payload in full segments of a leg, as IP packets.
[[nodiscard]] Bytes on_wire(const Leg& leg, Bytes payload);
/// What a leg has in flight, likewise.
[[nodiscard]] inline Bytes flight_on_wire(const Leg& leg) {
  return on_wire(leg, leg.endpoint.in_flight());
}

}  // namespace sluice::proxy

// Forwards packets that no split connection processes. Classifier and the handshake and handback parts call it.
// Invariant: a packet to a UE is either counted in the UE's bearer, or taken by its cross traffic queue.
#include "proxy/engine/shard/forwarder.hpp"

#include <utility>

#include "dataplane/packet/headers.hpp"
#include "proxy/engine/flow_table/checksum.hpp"

namespace sluice::proxy {
namespace {

/// True if a packet of this kind may wait until the UE's rate controller allows it. `reason` is the counter that states
/// why the packet is forwarded. A packet must not wait if its order matters to a split connection, a handshake, or a
/// handback of a connection to its hosts. ICMP messages do not wait either, because they report about other packets.
/// Fragments of TCP segments do not wait, because the proxy does not track them, so no ACK of their data opens the
/// controller's window. A drop of one would also lose the whole segment.
bool may_wait_by_kind(const RxPacket& rx, Counter reason) {
  switch (rx.result) {
    case packet::ParseResult::udp:
    case packet::ParseResult::not_tcp:
    case packet::ParseResult::ipv6_extension:
      return true;
    case packet::ParseResult::ip_fragment:
      return rx.parsed.protocol != packet::ip_protocol::tcp;
    case packet::ParseResult::tcp:
      return reason == Counter::forward_mid_flow || reason == Counter::forward_bypass_mode;
    default:
      return false;
  }
}

/// Selects whether a packet from a UE may be dropped or marked by UplinkAqm. `reason` is the counter that states why
/// the packet is forwarded. The loss of a segment could delay a handshake, or a handback of a connection to its hosts.
UplinkAqm::Kind kind_on_uplink(const RxPacket& rx, Counter reason) {
  const bool is_controlled = rx.result != packet::ParseResult::tcp || reason == Counter::forward_mid_flow ||
                             reason == Counter::forward_bypass_mode || reason == Counter::forward_multipath;
  return is_controlled ? UplinkAqm::Kind::controlled : UplinkAqm::Kind::counted;
}

}  // namespace

/// True if the frame is too long for the MTU of the other port. Such a frame is dropped and counted here, because a
/// driver or kernel would drop it without a counter.
[[gnu::always_inline]] inline bool Forwarder::is_too_long(RxPacket& rx) {
  if (shard_.queue.carries(opposite(rx.in), rx.packet)) [[likely]]
    return false;
  drop_too_long(rx);
  return true;
}

void Forwarder::drop_too_long(RxPacket& rx) {
  shard_.counters.add(Counter::drop_too_long);
  rx.packet.reset();
}

void Forwarder::forward(RxPacket& rx, Counter reason, Checksum checksum) {
  const Side out = opposite(rx.in);
  if (out == Side::core && rx.result == packet::ParseResult::udp && cross_traffic_.may_take_answers(rx.now))
      [[unlikely]]
    cross_traffic_.on_answer(rx);
  const std::uint16_t bytes = rx.packet.size();
  const bool is_usual = shard_.queue.carries(out, rx.packet) && !shard_.config.accepts_partial_checksums(rx.in) &&
                        !(out == Side::radio ? examines_radio() : shard_.registry.policies().controls_uplink()) &&
                        !passing_.samples(bytes);
  if (!is_usual) return forward_unusual(rx, reason, checksum);
  shard_.counters.add(reason);
  shard_.counters.add_passed_bytes(reason, bytes);
  passing_.skip(bytes);
  shard_.queue.push(out, std::move(rx.packet), rx.now);
}

/// Forwards a packet that forward() does not handle itself. It is too long, may have an unfinished checksum, may be
/// counted by a bearer, or is a frame of which PassingTraffic takes a sample. `reason` is the counter of the packet.
/// This is a separate function, because these calls would slow forward() down.
void Forwarder::forward_unusual(RxPacket& rx, Counter reason, Checksum checksum) {
  if (is_too_long(rx)) [[unlikely]]
    return;
  const bool is_known_damaged = checksum == Checksum::keep || reason == Counter::forward_handshake_damaged;
  if (!is_known_damaged && shard_.config.accepts_partial_checksums(rx.in)) {
    packet::complete_partial_checksum(rx.packet, rx.parsed, rx.result);
  }
  const Side out = opposite(rx.in);
  if (out == Side::radio && rx.result == packet::ParseResult::udp && shard_.registry.policies().advises_rates())
    scone_.advise(rx);
  if (out == Side::core && shard_.registry.policies().controls_uplink() &&
      !uplink_.pass(rx, kind_on_uplink(rx, reason)))
    return;
  if (out == Side::radio && radio_counted_ && rx.parsed.ip_version != 0 && pass_to_ue(rx, reason)) return;
  shard_.counters.add_passed_bytes(reason, rx.packet.size());
  passing_.count(rx, reason, rx.packet.size());
  shard_.counters.add(reason);
  shard_.queue.push(out, std::move(rx.packet), rx.now);
}

/// True if the packet may wait until the UE's rate controller allows it. This depends on its kind, on the policy that
/// matches it, and on `reason`, the counter that states why it is forwarded.
bool Forwarder::may_wait(const RxPacket& rx, Counter reason) {
  const ActivePolicies& policies = shard_.registry.policies();
  return may_wait_by_kind(rx, reason) &&
         (!policies.passes_cross_traffic() ||
          queues_cross_traffic(cross_traffic_policies_.settings_of(policies, rx.tag, rx.key(), view_of(rx))));
}

/// Returns true if the packet now waits in the queue of the UE's bearer, or was sent or dropped from there. That is so
/// if the bearer's controller limits cross traffic (packets of no tracked connection, such as QUIC). Otherwise only
/// counts the packet in the bearer, because it occupies the radio queue too. `reason` is the counter that counts the
/// packet when it is sent.
bool Forwarder::pass_to_ue(RxPacket& rx, Counter reason) {
  BearerId id = shard_.registry.find_bearer(rx.parsed.dst);
  const bool waits = may_wait(rx, reason);
  if (waits && rx.result == packet::ParseResult::udp) id = cross_traffic_.find_download(rx, id);
  if (id == flow::no_flow) return false;
  Bearer& bearer = shard_.registry.bearer(id);
  if (!bearer.counts()) return false;
  if (waits && cross_traffic_.offer(rx, bearer, reason)) return true;
  bearer.on_sent(rx.now, Bytes(rx.parsed.ip_length), Bearer::Traffic::cross);
  return false;
}

void Forwarder::pass_end_to_end(RxPacket& rx, EndToEndId id, UplinkAqm::Kind kind) {
  if (is_too_long(rx)) [[unlikely]]
    return;
  const tcp::Segment& segment = rx.segment();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(rx.packet, rx.parsed);
  const bool shown = segment.flags.syn() || end_to_end_.leaves_unfinished(id, rx.in);
  const bool is_valid = is_acceptable(shard_.config, rx.in, checksum, shown);
  // A SYN with data, or with options that the proxy cannot split, keeps its connection end to end.
  if (segment.flags.syn() && (rx.result != packet::ParseResult::tcp || segment.payload_len != 0) &&
      end_to_end_.is_own_syn(id, rx.in, segment)) [[unlikely]]
    end_to_end_.keep_end_to_end(id);
  if (is_valid && segment.flags.syn()) [[unlikely]]
    end_to_end_.record_checksum(id, rx.in, segment, checksum != packet::ChecksumState::good);
  if (is_valid && checksum != packet::ChecksumState::good) {
    packet::complete_partial_checksum(rx.packet, rx.parsed, rx.result);
  }
  if (rx.in == Side::radio && shard_.registry.policies().controls_uplink() && !uplink_.pass(rx, kind)) return;
  end_to_end_.receive(id, rx.in, std::move(rx.packet), rx.parsed, is_valid, buffer_quota_.refuses_flows(), rx.now);
}

}  // namespace sluice::proxy

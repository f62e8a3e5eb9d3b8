#include "proxy/shard/forwarder.hpp"

#include <utility>

#include "proxy/shard/checksum.hpp"

namespace sluice::proxy {

/// True if the frame exceeds the MTU of the other port. It is dropped and counted here, because a driver or kernel
/// would drop it without a counter.
inline bool Forwarder::is_too_long(Arrival& arrival) {
  if (shard_.queue.carries(opposite(arrival.in), arrival.packet)) [[likely]]
    return false;
  drop_too_long(arrival);
  return true;
}

void Forwarder::drop_too_long(Arrival& arrival) {
  shard_.counters.add(Counter::drop_too_long);
  arrival.packet.reset();
}

void Forwarder::forward(Arrival& arrival, Counter reason, Checksum checksum) {
  if (is_too_long(arrival)) [[unlikely]]
    return;
  shard_.counters.add(reason);
  const bool is_known_damaged = checksum == Checksum::keep || reason == Counter::forward_handshake_damaged;
  if (!is_known_damaged && shard_.config.accepts_partial_checksums(arrival.in)) {
    packet::complete_partial_checksum(arrival.packet, arrival.parsed, arrival.result);
  }
  const Side out = opposite(arrival.in);
  if (out == Side::radio && radio_counted_ && arrival.parsed.ip_version != 0) tell_bearer(arrival);
  shard_.queue.push(out, std::move(arrival.packet), arrival.now);
}

/// Reports the packet to the UE's bearer as cross traffic, because it occupies the radio queue like controlled
/// packets.
void Forwarder::tell_bearer(const Arrival& arrival) {
  const BearerId id = shard_.registry.find_bearer(arrival.parsed.dst);
  if (id == flow::no_flow) return;
  Bearer& bearer = shard_.registry.bearer(id);
  if (bearer.counts()) bearer.injected(arrival.now, Bytes(arrival.parsed.ip_length), Bearer::Whose::others);
}

void Forwarder::pass_end_to_end(Arrival& arrival, EndToEndId id) {
  if (is_too_long(arrival)) [[unlikely]]
    return;
  const tcp::Segment& segment = arrival.segment();
  const packet::ChecksumState checksum = packet::verify_tcp_checksum(arrival.packet, arrival.parsed);
  const bool shown = segment.flags.syn() || end_to_end_.leaves_unfinished(id, arrival.in);
  const bool believed = is_acceptable(shard_.config, arrival.in, checksum, shown);
  // A SYN with data, or with options that the proxy cannot split, keeps its connection end to end.
  if (segment.flags.syn() && (arrival.result != packet::ParseResult::tcp || segment.payload_len != 0) &&
      end_to_end_.is_own_syn(id, arrival.in, segment)) [[unlikely]]
    end_to_end_.keep_end_to_end(id);
  if (believed && segment.flags.syn()) [[unlikely]]
    end_to_end_.note_checksum(id, arrival.in, segment, checksum != packet::ChecksumState::good);
  if (believed && checksum != packet::ChecksumState::good) {
    packet::complete_partial_checksum(arrival.packet, arrival.parsed, arrival.result);
  }
  end_to_end_.receive(id, arrival.in, std::move(arrival.packet), arrival.parsed, believed, memory_.refuses_flows(),
                      arrival.now);
}

}  // namespace sluice::proxy

#include "proxy/shard/forwarder.hpp"

#include <utility>

#include "proxy/shard/checksum.hpp"

namespace sluice::proxy {

void Forwarder::forward(Arrival& arrival, Counter reason) {
  shard_.counters.add(reason);
  if (shard_.config.accepts_partial_checksums(arrival.in)) {
    packet::complete_partial_checksum(arrival.packet, arrival.parsed, arrival.result);
  }
  const Side out = opposite(arrival.in);
  if (out == Side::radio && radio_counted_ && arrival.parsed.ip_version != 0) tell_bearer(arrival);
  shard_.queue.push(out, std::move(arrival.packet), arrival.now);
}

/// It will stand in the radio queue like everything else: the law must know of it.
void Forwarder::tell_bearer(const Arrival& arrival) {
  const BearerId id = shard_.registry.find_bearer(arrival.parsed.dst);
  if (id == flow::no_flow) return;
  Bearer& bearer = shard_.registry.bearer(id);
  if (bearer.counts()) bearer.injected(arrival.now, Bytes(arrival.parsed.ip_length), Bearer::Whose::others);
}

void Forwarder::pass_end_to_end(Arrival& arrival, EndToEndId id) {
  const tcp::Segment& segment = arrival.segment();
  const bool believed = !is_damaged(shard_.config, arrival.in, arrival.packet, arrival.parsed);
  // A SYN with data or options that the split does not understand.
  if (segment.flags.syn() && (arrival.result != packet::ParseResult::tcp || segment.payload_len != 0) &&
      end_to_end_.is_own_syn(id, arrival.in, segment)) [[unlikely]]
    end_to_end_.keep_end_to_end(id);
  if (shard_.config.accepts_partial_checksums(arrival.in)) {
    packet::complete_partial_checksum(arrival.packet, arrival.parsed, arrival.result);
  }
  end_to_end_.receive(id, arrival.in, std::move(arrival.packet), arrival.parsed, believed, memory_.refuses_flows(),
                      arrival.now);
}

}  // namespace sluice::proxy

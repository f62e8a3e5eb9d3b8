#pragma once

#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy::icmp_errors {

/// Handles an ICMP error; the error is forwarded as well. The error applies to a leg if it quotes a segment that the
/// leg has in flight (RFC 1191, RFC 8201, RFC 5927; RFC 9293 section 3.9.2.2). Thread: the shard's.
void receive(const ShardContext& shard, SplitFlows& flows, const RxPacket& rx);

}  // namespace sluice::proxy::icmp_errors

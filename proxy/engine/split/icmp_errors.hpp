#pragma once

#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy::icmp_errors {

/// Processes an ICMP error of a split connection; the caller also forwards it. A leg uses the error only if it quotes a
/// segment that the leg has in flight. See RFC 1191, RFC 8201, RFC 5927 and RFC 9293 section 3.9.2.2. Thread: the
/// shard's.
void receive(const ShardContext& shard, SplitFlows& flows, const RxPacket& rx);

}  // namespace sluice::proxy::icmp_errors

#pragma once

#include "proxy/shard/arrival.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy::router_errors {

/// An ICMP message came in, and is still to pass. What a router says of a segment that a leg of ours has sent is taken
/// where that segment is outstanding (RFC 1191, RFC 8201, RFC 5927; RFC 9293 section 3.9.2.2). Thread: the shard's.
void hear(const ShardContext& shard, SplitFlows& flows, const Arrival& arrival);

}  // namespace sluice::proxy::router_errors

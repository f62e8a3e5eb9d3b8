#pragma once

#include <cstddef>
#include <vector>

#include "proxy/flows/registry.hpp"
#include "proxy/shard/info.hpp"

namespace sluice::proxy {

/// Append snapshots of split connections and of bearers until `out` has `limit` entries. Thread: the shard's.
void describe_flows(Registry& registry, std::vector<FlowInfo>& out, std::size_t limit);
void describe_bearers(Registry& registry, std::vector<BearerInfo>& out, std::size_t limit);

/// Counts, over all flows, which obstacle keeps each split and which ones a stop would break.
[[nodiscard]] StayingFlows count_staying(Registry& registry);

}  // namespace sluice::proxy

#pragma once

#include <cstddef>
#include <vector>

#include "proxy/engine/base/info.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Append snapshots of split connections and of bearers until `out` has `limit` entries. Thread: the shard's.
void describe_flows(Registry& registry, std::vector<FlowInfo>& out, std::size_t limit);
void describe_bearers(Registry& registry, std::vector<BearerInfo>& out, std::size_t limit);

/// Counts split connections by what delays their handback, and those that a stop would break. Visits every flow.
[[nodiscard]] StayingFlows count_staying(Registry& registry);

}  // namespace sluice::proxy

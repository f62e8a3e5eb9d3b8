#pragma once

#include <cstddef>
#include <vector>

#include "proxy/engine/base/info.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Appends snapshots of split connections to `out`, until `out` has `limit` entries. Thread: the shard's.
void describe_flows(Registry& registry, std::vector<FlowInfo>& out, std::size_t limit);
void describe_bearers(Registry& registry, std::vector<BearerInfo>& out, std::size_t limit);

/// Counts split connections by what prevents their handback to the hosts. Also counts those that would break if the
/// proxy stopped now. Visits every flow.
[[nodiscard]] StayingFlows count_staying(Registry& registry);

}  // namespace sluice::proxy

#pragma once

#include <cstddef>
#include <vector>

#include "proxy/flows/registry.hpp"
#include "proxy/shard/info.hpp"

namespace sluice::proxy {

/// Snapshots for observers, of split connections and bearers; `out` grows to `limit` entries at most. Thread: the
/// shard's.
void describe_flows(Registry& registry, std::vector<FlowInfo>& out, std::size_t limit);
void describe_bearers(Registry& registry, std::vector<BearerInfo>& out, std::size_t limit);

/// Looks at every flow: what keeps it here, and what a stop would break.
[[nodiscard]] StayingFlows count_staying(Registry& registry);

}  // namespace sluice::proxy

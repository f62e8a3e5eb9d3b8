#include "proxy/split/exposure_sample.hpp"

#include <algorithm>

#include "proxy/split/relay.hpp"

namespace sluice::proxy {

void ExposureSample::take(const flow::Slab<Flow>& flows, std::uint32_t most) {
  const std::uint32_t end = flows.reach();
  for (std::uint32_t i = 0; i < std::min(most, end); ++i) {
    const FlowId id = next_ < end ? next_ : 0;
    next_ = id + 1;
    if (!flows.contains(id) || !flows[id].terminated()) continue;
    for (const Side in : {Side::radio, Side::core}) bytes_.record(relay::exposed_to(flows[id], in));
  }
}

}  // namespace sluice::proxy

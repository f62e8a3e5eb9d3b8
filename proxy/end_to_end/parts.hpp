#pragma once

#include "proxy/flows/buffer_pool_budget.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/transmit_queue.hpp"

namespace sluice::proxy {

/// References that the classes for end-to-end connections share; the referenced objects outlive them.
struct EndToEndParts {
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  BufferPoolBudget& budget;
};

}  // namespace sluice::proxy

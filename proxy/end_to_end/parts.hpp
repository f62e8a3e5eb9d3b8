#pragma once

#include "proxy/flows/memory_budget.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/transmit_queue.hpp"

namespace sluice::proxy {

/// Where connections that pass end to end belong and their packets go; outlives who is given it.
struct EndToEndParts {
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  MemoryBudget& budget;
};

}  // namespace sluice::proxy

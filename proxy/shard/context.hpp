#pragma once

#include "dataplane/packet/pool.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/flows/times.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/transmit_queue.hpp"

namespace sluice::proxy {

/// What every part of a shard works with. The shard owns it and it outlives all parts. Thread: the shard's.
struct ShardContext {
  const ShardConfig& config;
  packet::PacketPool& pool;
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  MemoryBudget& budget;
  Times& times;
};

}  // namespace sluice::proxy

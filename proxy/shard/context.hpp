#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/flows/times.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/transmit_queue.hpp"

namespace sluice::proxy {

/// The newest IPv4 identifications of packets that routers may cut: not 0, and another one for as long as it can be
/// (RFC 6864 section 4.3). UEs share a few counters, and all connections of a UE have one, so that no two of them use a
/// number for the same pair of hosts at a time.
class FragmentIds {
 public:
  [[nodiscard]] std::uint16_t next(BearerId bearer) {
    std::uint16_t& newest = newest_[bearer % newest_.size()];
    if (++newest == 0) ++newest;
    return newest;
  }

 private:
  std::array<std::uint16_t, 256> newest_{};
};

/// What every part of a shard works with. The shard owns it and it outlives all parts. Thread: the shard's.
struct ShardContext {
  const ShardConfig& config;
  packet::PacketPool& pool;
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  MemoryBudget& budget;
  Times& times;
  FragmentIds& fragment_ids;
};

}  // namespace sluice::proxy

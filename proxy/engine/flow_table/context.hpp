#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pool.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/times.hpp"
#include "proxy/engine/base/transmit_queue.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Allocates IPv4 identifications for packets that routers may fragment. A number is never 0, and is reused as late as
/// possible (RFC 6864 section 4.3). All connections of a UE share one counter, so that packets between two hosts have
/// different numbers. Several UEs may share a counter.
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

/// References to objects that every component of a shard uses. The shard owns these objects, and they outlive all
/// components. Thread: the shard's.
struct ShardContext {
  const ShardConfig& config;
  packet::PacketPool& pool;
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  BufferPoolBudget& budget;
  Times& times;
  FragmentIds& fragment_ids;
  ConnectionRecords& records;
};

}  // namespace sluice::proxy

#pragma once

#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/transmit_queue.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// References to objects that all classes for end-to-end connections use. These objects must outlive the objects of
/// those classes.
struct EndToEndParts {
  Registry& registry;
  TransmitQueue& queue;
  Counters& counters;
  BufferPoolBudget& budget;
  ConnectionRecords& records;
};

}  // namespace sluice::proxy

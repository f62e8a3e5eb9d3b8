#pragma once

#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/relay/relay_memory.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/shard/context.hpp"

namespace sluice::proxy {

/// What passes: untouched, or as a segment of a connection that is regulated end to end. Thread: the shard's.
class Forwarder {
 public:
  /// What it is given outlives it.
  Forwarder(const ShardContext& shard, EndToEndFlows& end_to_end, const RelayMemory& memory)
      : shard_(shard), end_to_end_(end_to_end), memory_(memory) {}

  /// From now on bearers are told what passes to the radio: some policy is steered by reports.
  void count_radio() { radio_counted_ = true; }
  /// Passes untouched, for this reason.
  [[gnu::noinline]] void forward(Arrival& arrival, Counter reason);
  /// Of a connection that is regulated: now or later, with the window that its law wants.
  void pass_end_to_end(Arrival& arrival, EndToEndId id);

 private:
  [[gnu::noinline]] void tell_bearer(const Arrival& arrival);

  const ShardContext shard_;
  EndToEndFlows& end_to_end_;
  const RelayMemory& memory_;
  bool radio_counted_ = false;
};

}  // namespace sluice::proxy

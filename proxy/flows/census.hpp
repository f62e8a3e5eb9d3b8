#pragma once

#include <cstdint>

#include "proxy/flows/registry.hpp"
#include "proxy/flows/times.hpp"

namespace sluice::proxy {

/// How many flows and bearers are in which state.
struct CensusCounts {
  std::uint32_t handshakes = 0;    ///< connections of which the SYN-ACK went by
  std::uint32_t split = 0;         ///< connections that are split
  std::uint32_t handing_back = 0;  ///< … and on their way back to their hosts
  std::uint32_t governed = 0;      ///< bearers that a law steers
  std::uint32_t ungoverned = 0;    ///< bearers under ordinary congestion control

  CensusCounts& operator+=(const CensusCounts& other);
};

/// Looks at flows and bearers in turn, so many each time, counts their states, and takes times of those that have
/// something under way to the UE. The counts are those of the last round through all of them. Thread: the shard's.
class Census {
 public:
  explicit Census(Times& times) : times_(times) {}

  /// Looks at up to `most` flows and as many bearers.
  void look(Registry& registry, std::uint32_t most);
  [[nodiscard]] const CensusCounts& counts() const { return counts_; }

 private:
  void look_at_flows(Registry& registry, std::uint32_t most);
  void look_at_bearers(Registry& registry, std::uint32_t most);
  void count(Registry& registry, const Flow& flow);
  void take_times(const Flow& flow, bool ordinary);

  Times& times_;
  CensusCounts counts_;
  CensusCounts round_;  ///< of the rounds under way
  FlowId next_flow_ = 0;
  BearerId next_bearer_ = 0;
};

}  // namespace sluice::proxy

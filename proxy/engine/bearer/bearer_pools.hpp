#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/ack_controller.hpp"
#include "proxy/engine/bearer/cross_traffic_queue.hpp"
#include "proxy/engine/bearer/radio_queue.hpp"
#include "proxy/engine/bearer/report_state.hpp"
#include "proxy/engine/bearer/ue_send_history.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Pools for state that only some UE bearers of a shard need. Most UEs are idle, and many are in no report. Address
/// space is reserved at construction, memory is used as objects are created. Thread: the shard's.
class BearerPools {
 public:
  /// Reserves places for `bearers` bearers, the maximum. Throws std::bad_alloc.
  explicit BearerPools(std::uint32_t bearers)
      : report_states(bearers),
        ack_controllers(bearers),
        queues(bearers),
        recent_sends(bearers),
        cross_traffic(bearers),
        cross_traffic_of(bearers) {}

  /// Returns a default-constructed ACK-based controller for these settings. The reference is valid until the next call.
  [[nodiscard]] const AckController& fresh_ack_controller(const PolicySettings& settings) {
    if (!fresh_ || fresh_->law().parameters() != settings.smvs.acks) fresh_.emplace(settings.smvs.acks);
    return *fresh_;
  }

  flow::Slab<ReportState> report_states;
  flow::Slab<AckController> ack_controllers;
  flow::Slab<RadioQueue> queues;
  flow::Slab<RecentSends> recent_sends;
  flow::Slab<CrossTrafficQueue> cross_traffic;
  flow::LazyArray<std::uint32_t>
      cross_traffic_of;  ///< index in `cross_traffic` by bearer, while the bearer has a queue
  Observed observed;     ///< sum of the decisions of all bearers in mode observe and of the actual traffic

 private:
  std::optional<AckController> fresh_;
};

}  // namespace sluice::proxy

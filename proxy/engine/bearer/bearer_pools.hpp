#pragma once

#include <cstdint>
#include <optional>

#include "control/ack_based/answer_clock.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/bearer/ack_controller.hpp"
#include "proxy/engine/bearer/cross_traffic_queue.hpp"
#include "proxy/engine/bearer/radio_queue.hpp"
#include "proxy/engine/bearer/report_state.hpp"
#include "proxy/engine/bearer/ue_send_history.hpp"
#include "proxy/engine/bearer/uplink_state.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Pools for state that only some bearers of a shard need: most UEs are idle, and many appear in no report. Address
/// space is reserved at construction, and memory is used when objects are created. Thread: the shard's.
class BearerPools {
 public:
  /// Reserves address space for `bearers` bearers, the maximum number. Throws std::bad_alloc.
  explicit BearerPools(std::uint32_t bearers)
      : report_states(bearers),
        ack_controllers(bearers),
        queues(bearers),
        recent_sends(bearers),
        cross_traffic(bearers),
        answer_clocks(bearers),
        cross_traffic_of(bearers),
        uplinks(bearers),
        uplink_of(bearers) {}

  /// Returns an ACK-based controller that has measured nothing and has these settings. The reference is valid until the
  /// next call.
  [[nodiscard]] const AckController& fresh_ack_controller(const PolicySettings& settings) {
    if (!fresh_ || fresh_parameters_ != settings.smvs.acks) {
      fresh_parameters_ = settings.smvs.acks;
      fresh_.emplace(fresh_parameters_);
    }
    return *fresh_;
  }

  flow::Slab<ReportState> report_states;
  flow::Slab<AckController> ack_controllers;
  flow::Slab<RadioQueue> queues;
  flow::Slab<RecentSends> recent_sends;
  flow::Slab<CrossTrafficQueue> cross_traffic;
  flow::Slab<control::AnswerClock> answer_clocks;
  /// For each bearer, by its id: index of its queue in `cross_traffic`, if the bearer limits cross traffic (packets of
  /// no split or end-to-end connection, such as QUIC).
  flow::LazyArray<std::uint32_t> cross_traffic_of;
  flow::Slab<UplinkState> uplinks;
  /// For each bearer, by its id: index of its state in `uplinks`, if its UE's packets have waited long for the uplink.
  flow::LazyArray<std::uint32_t> uplink_of;
  /// Sums over all bearers that compare the controllers' decisions with the actual traffic in mode observe, in which
  /// decisions are not applied.
  Observed observed;

 private:
  /// copy of the parameters of `fresh_`, because that controller may outlive the policy that contains them
  control::DelayBasedParameters fresh_parameters_;
  std::optional<AckController> fresh_;
};

}  // namespace sluice::proxy

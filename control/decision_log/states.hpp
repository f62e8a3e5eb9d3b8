#pragma once

#include "control/ack_based/delay_based_controller.hpp"
#include "control/decision_log/fields.hpp"
#include "control/smvs/framing.hpp"
#include "control/smvs/receive_window_loop.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/flow_controller.hpp"

/// This header lists for each type of controller its state: every member that changes after construction. tests/lint
/// reports a member that is missing here.
namespace sluice::control {

// --- parts of laws

template <typename Value, typename Better>
template <typename Self, typename Visit>
void HalfWindowExtreme<Value, Better>::fields(Self& self, Visit& visit) {
  visit("since", self.since_);
  visit("before", self.before_);
  visit("newest", self.newest_);
  visit("known", self.known_);
}

template <typename Self, typename Visit>
void WindowedRange::Slice::fields(Self& self, Visit& visit) {
  visit("number", self.number);
  visit("low", self.range.low);
  visit("high", self.range.high);
}

template <typename Self, typename Visit>
void WindowedRange::fields(Self& self, Visit& visit) {
  visit("slices", self.ring_);
  visit("newest", self.newest_, self.ring_.size() - 1);
  visit("used", self.used_, self.ring_.size());
}

template <typename Self, typename Visit>
void EmptyQueueRelease::fields(Self& self, Visit& visit) {
  visit("next", self.next_, most);
}

template <typename Self, typename Visit>
void Framing::fields(Self& self, Visit& visit) {
  visit("payload", self.payload_);
  visit("packets", self.packets_);
}

template <typename Self, typename Visit>
void DeliveryEstimator::fields(Self& self, Visit& visit) {
  visit("memory", self.memory_s_);
  visit("last", self.last_);
  visit("clump_began", self.aggregation_began_);
  visit("gathered", self.aggregation_bytes_);
  visit("clump", self.ack_aggregation_);
  visit("stretch", self.ack_stretch_);
  visit("gap", self.gap_);
  visit("rest", self.idle_gap_);
  visit("share", self.byte_weight_);
  visit("delivered", self.delivered_);
  visit("weight", self.weight_);
  visit("mean", self.mean_);
  visit("floor", self.floor_);
  visit("peak", self.max_rate_);
  visit("counting", self.busy_);
  visit("first_clump", self.first_aggregation_);
}

template <typename Self, typename Visit>
void MinRttEstimator::fields(Self& self, Visit& visit) {
  visit("value", self.value_);
  visit("far_for", self.stale_for_);
  visit("late_for", self.above_target_for_);
  visit("least_late", self.min_above_target_);
  visit("changed_at", self.changed_at_);
  visit("drain_began", self.drain_began_);
  visit("empty_at", self.empty_at_);
  visit("others_gone_at", self.others_drained_at_);
  visit("drained_from", self.base_at_drain_);
  OrNever extra_drain_at{self.extra_drain_at_};
  visit("again_at", extra_drain_at);
  visit("next_doubt", self.next_suspicion_);
  visit("doubt_wait", self.suspicion_wait_);
  visit("probed", self.probed_);
  visit("probed_at", self.probed_at_);
  visit("longer", self.candidate_);
  visit("longer_at", self.candidate_at_);
  visit("shorter", self.before_raise_);
  visit("drains", self.drains_);
  visit("probes", self.probes_);
  visit("every", self.slots_per_drain_);
  visit("phase", self.phase_, Phase::probe_rtt);
  visit("unproven", self.unvalidated_);
  visit("evidence", self.candidate_measured_);
  visit("asked", self.requested_);
  visit("prompt", self.has_undelayed_probe_);
  visit("doubt_stands", self.suspicion_stands_);
  visit("doubts_vain", self.distrusts_suspicions_);
}

template <typename Self, typename Visit>
void SlowStart::fields(Self& self, Visit& visit) {
  visit("window", self.window_);
  visit("round_ends", self.round_ends_);
  visit("to_exceed", self.full_bw_);
  visit("flat_rounds", self.full_bw_count_);
  visit("phase", self.phase_, Phase::over);
}

template <typename Self, typename Visit>
void AckDelayEstimator::fields(Self& self, Visit& visit) {
  visit("newest", self.newest_);
  visit("newest_at", self.newest_at_);
  visit("usual", self.mean_);
  visit("greatest", self.max_ack_delay_);
  visit("unknown_for", self.unknown_for_);
}

template <typename Self, typename Visit>
void CrossTrafficEstimator::fields(Self& self, Visit& visit) {
  visit("ours", self.controlled_rate_);
  visit("others", self.cross_rate_);
  visit("share", self.byte_weight_);
  visit("usual_trip", self.srtt_);
}

template <typename Self, typename Visit>
void LossBound::fields(Self& self, Visit& visit) {
  visit("most", self.w_max_);
  visit("reached_after", self.cubic_k_);
  visit("lowered_at", self.lowered_at_);
  visit("random_loss", self.random_loss_, Between{0, 1});
  visit("excess", self.excess_);
  visit("pipe", self.trial_floor_);
  visit("tried", self.measured_bytes_);
  visit("tried_lost", self.measured_lost_);
  visit("base_delay", self.base_delay_);
  visit("rate", self.rate_);
  visit("earlier_rate", self.earlier_rate_);
  visit("round_began", self.round_began_);
  visit("round_left", self.round_left_);
  visit("sent", self.sent_);
  visit("lost", self.lost_);
  visit("peak", self.max_in_flight_);
  visit("sent_before", self.predates_reduction_);
}

template <typename Self, typename Visit>
void StandingDelayDetector::fields(Self& self, Visit& visit) {
  visit("most", self.max_in_flight_);
  visit("least", self.min_rtt_);
  visit("rate", self.rate_);
  OrNever halved{self.halved_};
  visit("halved", halved);
  visit("needed", self.needed_);
  visit("held", self.min_window_);
}

template <typename Self, typename Visit>
void SharedQueueDetector::fields(Self& self, Visit& visit) {
  visit("memory", self.rate_memory_);
  visit("silence_ended", self.silence_ended_);
}

template <typename Self, typename Visit>
void BusyLinkFloor::fields(Self& self, Visit& visit) {
  visit("uploaded_rate", self.uploaded_rate_);
  visit("link_rate", self.link_rate_);
  visit("window", self.window_);
  visit("before_raise", self.before_raise_);
  visit("rate_before_raise", self.rate_before_raise_);
  visit("round_began", self.round_began_);
  visit("round_left", self.round_left_);
  visit("delivered", self.delivered_);
  visit("limited", self.limited_);
  visit("least_wait", self.least_wait_);
  visit("until_judged", self.until_judged_);
  visit("has_loss", self.has_loss_);
  visit("uploads", self.uploads_);
}

template <typename Self, typename Visit>
void PathStepDetector::fields(Self& self, Visit& visit) {
  visit("newest", self.newest_);
  visit("longer", self.longer_);
  visit("since", self.since_);
  visit("until", self.until_);
  visit("rate", self.rate_);
  visit("delivered", self.delivered_);
  visit("delayed", self.delayed_);
  visit("empty", self.empty_);
}

template <typename Self, typename Visit>
void SteadyLinkDetector::fields(Self& self, Visit& visit) {
  visit("mean", self.mean_rate_);
  visit("variation", self.variation_, Between{0, 1});
  visit("least", self.min_round_trip_);
  visit("ignored_until", self.ignored_until_);
}

template <typename Self, typename Visit>
void PathChangeDetector::fields(Self& self, Visit& visit) {
  visit("since", self.since_);
  visit("least", self.min_unexplained_);
  visit("reports", self.reports_);
}

// --- laws of a UE

template <typename Self, typename Visit>
void DelayBasedController::fields(Self& self, Visit& visit) {
  visit("delivery", self.delivery_);
  visit("base", self.min_rtt_);
  visit("start", self.slow_start_);
  visit("lateness", self.ack_delay_);
  visit("sharers", self.cross_traffic_);
  visit("unexplained", self.path_change_);
  visit("unmoved", self.standing_delay_);
  visit("step", self.path_step_);
  visit("shared", self.shared_queue_);
  visit("busy", self.busy_link_);
  visit("drain_rate", self.drain_rate_);
  visit("steady", self.steady_link_);
  visit("losses", self.losses_);
  visit("reported_at", self.reported_at_);
  visit("window", self.window_);
  visit("left", self.in_flight_);
  visit("further", self.control_loop_delay_);
  visit("last_heard", self.last_ack_);
  visit("delivered_at", self.delivered_at_);
  visit("flows", self.flows_);
  visit("reference_part", self.reference_factor_, Between{0, 1});
  visit("rests", self.bursty_link_);
  visit("loss_limited", self.loss_limited_);
  visit("heard", self.has_ack_);
  visit("unanswered", self.all_lost_);
}

template <typename Self, typename Visit>
void Smvs::Command::fields(Self& self, Visit& visit) {
  visit("at", self.at);
  visit("bytes", self.bytes);
}

template <typename Self, typename Visit>
void Smvs::fields(Self& self, Visit& visit) {
  visit("eta", self.eta_);
  visit("commands", self.commands_);
  visit("next_command", self.next_command_, self.commands_.empty() ? 0 : self.commands_.size() - 1);
  visit("commands_used", self.commands_used_, self.commands_.size());
  visit("last", self.last_);
  visit("busy_until", self.busy_until_);
  visit("mean", self.mean_);
  visit("mean_known", self.mean_known_);
  visit("fraction", self.fraction_);
  visit("state", self.state_);
}

// --- laws of a connection

template <typename Self, typename Visit>
void ReceiveWindowLoop::fields(Self& self, Visit& visit) {
  visit("known", self.known_);
  visit("state", self.state_);
}

template <typename Self, typename Visit>
void ClampWindow::fields(Self& self, Visit& visit) {
  visit("firsts", self.firsts_);
  visit("sizes", self.sizes_);
  visit("newest", self.newest_, groups - 1);
  visit("used", self.used_, std::min(groups, self.parameters_.rate_packets + 1));
  visit("in_newest", self.in_newest_, self.per_group_);
  visit("sum", self.sum_);
  visit("last", self.last_);
  visit("measured_rate", self.rate_);
  visit("measured_round_trip", self.round_trip_s_);
  visit("state", self.state_);
}

template <typename Self, typename Visit>
void WindowRegulator::fields(Self& self, Visit& visit) {
  visit("buffer", self.parameters_.buffer);
  visit("rescue", self.rescue_);
  visit("dequeued", self.dequeued_);
  visit("acked", self.acked_);
  visit("released", self.released_);
  visit("edge", self.edge_);
  visit("advertised", self.advertised_);
}

template <typename Self, typename Visit>
void AckRegulator::fields(Self& self, Visit& visit) {
  visit("buffer", self.parameters_.buffer);
  visit("rescue", self.rescue_);
  visit("phase", self.phase_, SourcePhase::recovery);
  visit("arrived", self.arrived_);
  visit("released", self.released_);
  visit("acked", self.acked_);
  visit("queue", self.queue_);
  visit("window", self.window_);
  visit("round_end", self.round_end_);
  visit("window_at_round", self.window_at_round_);
  visit("recovery_end", self.recovery_end_);
}

template <typename Self, typename Visit>
void ClampController::fields(Self& self, Visit& visit) {
  OrNever draining_until{self.draining_until_};
  visit("draining_until", draining_until);
  visit("start", self.start_, Start::remembering);
  visit("window", self.window_);
}

template <WindowRegulation form>
template <typename Self, typename Visit>
void WindowRegulatorController<form>::fields(Self& self, Visit& visit) {
  visit("regulator", self.regulator_);
}

template <typename Self, typename Visit>
void AckRegulatorController::fields(Self& self, Visit& visit) {
  visit("regulator", self.regulator_);
}

template <typename Self, typename Visit>
void FlowController::fields(Self& self, Visit& visit) {
  std::visit([&](auto& law) { std::remove_cvref_t<decltype(law)>::fields(law, visit); }, self.law_);
}

}  // namespace sluice::control

#pragma once

#include <cstdint>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/controller.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Inputs of the controllers that may limit the sending to a UE. The policy selects one, unless the UE is in the
/// control group, which no controller limits. The inputs that include ACKs come last, because uses_ack_feedback()
/// compares values.
enum class FeedbackInput : std::uint8_t {
  none,               ///< no controller: the mode has none, or the UE is in the control group
  configured_buffer,  ///< a per-flow window controller, which divides a buffer of configured size and needs no input
  reports,            ///< Node-B reports; congestion control limits sending while they are late
  reports_else_acks,  ///< Node-B reports; the ACK-based controller limits sending while they are late
  acks_or_reports     ///< the UE's ACKs, or Node-B reports while these have less feedback delay
};

/// Selects what controls the sending to a UE: congestion control, Node-B reports or the UE's ACKs. Reads no clock. The
/// selection is made when an input changes and is stored, because it is read for every segment.
class RateControlMode {
 public:
  /// Starts from the policy's settings. `in_control_group` is true if the UE is in the control group, which no rate
  /// controller limits.
  RateControlMode(const PolicySettings& settings, bool in_control_group);

  /// Records whether Node-B reports arrive in time, that is, at least once in several report periods
  /// (control::Fallback).
  void set_timely_reports(const PolicySettings& settings, bool in_time);
  /// Selects between Node-B reports and ACKs by their feedback delays `by_reports` and `by_acks`; 0 means unknown.
  /// Reports replace ACKs if by_reports is less than 2/3 of by_acks, and stay while it is less than 4/5. Reports are
  /// not used if `is_contradicted` is true, that is, if ACKs contradict them. Has no effect unless input() is
  /// FeedbackInput::acks_or_reports and connections are split.
  void compare(const PolicySettings& settings, Duration by_reports, Duration by_acks, bool is_contradicted);

  /// Returns what controls the sending of the radio legs (TCP endpoints facing the UE) now.
  [[nodiscard]] Controller controller() const { return controller_; }
  /// Returns the input that the policy selects for the controller; `none` if the UE is in the control group, which no
  /// rate controller limits.
  [[nodiscard]] FeedbackInput input() const { return input_; }

  /// True if the mode uses feedback (Node-B reports or ACKs) and the UE is not in the control group, which no rate
  /// controller limits.
  [[nodiscard]] bool can_be_controlled() const { return input_ != FeedbackInput::none; }
  /// True if the controller needs Node-B reports. While they are late, congestion control or the ACK-based controller
  /// replaces it.
  [[nodiscard]] bool needs_reports() const {
    return input_ == FeedbackInput::reports || input_ == FeedbackInput::reports_else_acks;
  }
  /// True if the UE's ACKs feed the ACK-based controller.
  [[nodiscard]] bool uses_ack_feedback() const { return input_ >= FeedbackInput::reports_else_acks; }
  /// True while Node-B reports arrive in time, that is, at least once in several report periods (control::Fallback).
  [[nodiscard]] bool has_timely_reports() const { return has_timely_reports_; }

  /// True if a controller has input now, so that it computes decisions. Node-B reports must arrive in time, unless the
  /// controller does not need them.
  [[nodiscard]] bool has_feedback() const { return has(controller_, ControllerProperty::computes); }
  /// True if a controller limits the sending to the UE now; never in modes without a controller, or in mode observe, in
  /// which decisions are not applied.
  [[nodiscard]] bool is_rate_controlled() const { return has(controller_, ControllerProperty::limits); }
  /// True if the report-based controller currently computes the send budget, the bytes that all flows of the UE may
  /// send. In mode observe that budget is not applied.
  [[nodiscard]] bool is_report_based() const {
    return controller_ == Controller::reports || controller_ == Controller::observed_reports;
  }
  /// True if the ACK-based controller currently computes the send budget, the bytes that all flows of the UE may send.
  /// In mode observe that budget is not applied.
  [[nodiscard]] bool is_ack_based() const { return has(controller_, ControllerProperty::ack_based); }
  /// Returns what limits the bytes in flight to the UE: a send budget of the bearer (`allowance`), or the congestion
  /// window. A per-flow window controller limits them in addition to the congestion window, as the receive window does
  /// in the papers about such controllers.
  [[nodiscard]] tcp::WindowSource window_source() const {
    return has(controller_, ControllerProperty::budget) ? tcp::WindowSource::allowance
                                                        : tcp::WindowSource::congestion_control;
  }
  /// True if a per-flow window controller, which has the input that it needs, computes a window for each flow. The
  /// flows then share no send budget.
  [[nodiscard]] bool has_flow_windows() const { return has(controller_, ControllerProperty::per_flow); }
  /// True if the window of a per-flow controller is also written into ACKs towards the UE.
  [[nodiscard]] bool has_flow_windows_both_ways() const { return has(controller_, ControllerProperty::both_ways); }
  /// True if the window of a per-flow controller limits what a split connection has in flight to the UE.
  [[nodiscard]] bool limits_inflight() const { return has(controller_, ControllerProperty::inflight); }

 private:
  /// Returns the controller for the policy's settings and input(). The result also depends on whether Node-B reports
  /// arrive in time and have less feedback delay than ACKs.
  [[nodiscard]] Controller select(const PolicySettings& settings) const;

  Controller controller_;
  FeedbackInput input_;
  bool has_timely_reports_ = false;
  /// true if the policy permits both inputs (FeedbackInput::acks_or_reports), and reports have less feedback delay than
  /// ACKs
  bool reports_are_faster_ = false;
};
static_assert(sizeof(RateControlMode) == 4, "part of each bearer");

}  // namespace sluice::proxy

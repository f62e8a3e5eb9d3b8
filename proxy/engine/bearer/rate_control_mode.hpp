#pragma once

#include <cstdint>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Selects what limits the radio leg of a UE bearer: congestion control, Node-B reports, or the UE's ACKs. It is a pure
/// state machine. Derived flags are computed when an input changes, because every segment reads them.
class RateControlMode {
 public:
  /// Starts from the policy's settings. `ordinary` is true if the UE belongs to the control group, which no rate
  /// controller limits.
  RateControlMode(const PolicySettings& settings, bool ordinary);

  /// Records whether Node-B reports arrive in time.
  void set_timely_reports(const PolicySettings& settings, bool in_time);
  /// Compares the feedback delay of reports (`by_reports`) and of ACKs. If reports are optional, the input with the
  /// shorter delay is used. While `by_acks` is zero (unknown), nothing changes. `doubted`: true if ACKs contradict the
  /// reports, which are then not used.
  void compare(const PolicySettings& settings, Duration by_reports, Duration by_acks, bool doubted);

  /// True if the mode uses feedback (Node-B reports or ACKs) and the UE is not in the control group.
  [[nodiscard]] bool can_be_controlled() const { return can_be_controlled_; }
  /// True if the controller needs Node-B reports. While they are late, congestion control or the ACK-based controller
  /// replaces it.
  [[nodiscard]] bool needs_reports() const { return needs_reports_; }
  /// True while Node-B reports arrive in time.
  [[nodiscard]] bool has_timely_reports() const { return has_timely_reports_; }
  /// True if Node-B reports limit what is sent now: they arrive in time, and are required or show the queue sooner than
  /// ACKs.
  [[nodiscard]] bool is_report_based() const { return is_report_based_; }
  /// True if a controller has input now: Node-B reports arrive in time, or are not required.
  [[nodiscard]] bool has_feedback() const { return has_feedback_; }

  /// True if a controller limits the sending to the UE now; never in modes without feedback or in mode observe.
  [[nodiscard]] bool is_rate_controlled() const { return is_rate_controlled_; }
  /// Returns what limits the bytes in flight to the UE. Per-flow window controllers limit them in addition to the
  /// congestion window, as the receive window does in their papers.
  [[nodiscard]] tcp::WindowSource window_source() const {
    return is_rate_controlled_ && !has_flow_windows_ ? tcp::WindowSource::allowance
                                                     : tcp::WindowSource::congestion_control;
  }
  /// True if the UE's ACKs are input of the ACK-based controller.
  [[nodiscard]] bool uses_ack_feedback() const { return uses_ack_feedback_; }
  /// True if the ACK-based controller currently decides how much may be sent.
  [[nodiscard]] bool is_ack_based() const { return is_ack_based_; }
  /// True if each flow has a window of its own, by a per-flow window controller that has feedback, instead of a common
  /// send budget.
  [[nodiscard]] bool has_flow_windows() const { return has_flow_windows_; }
  /// True if the window of a per-flow controller is also written into ACKs towards the UE.
  [[nodiscard]] bool has_flow_windows_both_ways() const { return has_flow_windows_both_ways_; }
  /// True if the window of a per-flow controller limits what a split connection has in flight to the UE.
  [[nodiscard]] bool limits_inflight() const { return limits_inflight_; }

 private:
  /// Recomputes the flags that are derived from the inputs.
  void update(const PolicySettings& settings);

  bool can_be_controlled_ : 1;
  bool needs_reports_ : 1;
  bool has_timely_reports_ : 1 = false;
  bool reports_are_faster_ : 1 = false;  ///< true if reports are optional and have a shorter feedback delay than ACKs
  bool is_report_based_ : 1 = false;
  bool has_feedback_ : 1 = false;
  bool has_flow_windows_ : 1 = false;
  bool has_flow_windows_both_ways_ : 1 = false;
  // Flags that every segment reads are whole bytes, because a byte takes fewer instructions than a bit.
  bool uses_ack_feedback_;
  bool is_rate_controlled_ = false;
  bool is_ack_based_ = false;
  bool limits_inflight_ = false;
};
static_assert(sizeof(RateControlMode) == 5, "part of each bearer");

}  // namespace sluice::proxy

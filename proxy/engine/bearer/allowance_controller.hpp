#pragma once

#include <cstdint>
#include <variant>

#include "control/smvs/node_b_allowance.hpp"
#include "control/smvs/smvs.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::control {
class DecisionLog;
}

namespace sluice::proxy {

/// Report-based controller of a UE bearer. From each Node-B report it derives the allowance: the number of bytes that
/// may be sent until the next report. Either the proxy computes it, or the Node-B has computed and reported it; the
/// constructor selects which. In modes other than smvs the object exists, but computes no allowance. Thread: the
/// shard's.
class AllowanceController {
 public:
  /// Creates the controller that the policy's `settings` select; `settings` must outlive it. `trace` points to the
  /// owner's pointer to the decision log; that pointer is null while the log does not record this UE.
  explicit AllowanceController(const PolicySettings& settings, control::DecisionLog* const* trace = &no_trace);
  explicit AllowanceController(PolicySettings&& temporary, control::DecisionLog* const* trace = &no_trace) = delete;
  ~AllowanceController();
  AllowanceController(const AllowanceController&) = delete;
  AllowanceController& operator=(const AllowanceController&) = delete;

  /// Returns the number of IP bytes that may be sent until the next Node-B report, which is due after `period`.
  /// `in_flight` is the number of IP bytes between the proxy and the radio queue. `reference_factor` multiplies the
  /// target queue length; it has no effect if the Node-B computes the allowance.
  [[nodiscard]] Bytes on_report(const ReportArrival& report, Bytes in_flight, Duration period,
                                double reference_factor = 1);
  /// Runs one controller step for the whole time in which the Node-B omitted the unchanged UE from its reports. `last`
  /// is the report before that time, and `until` the end of that time by the Node-B's clock.
  void on_omitted(const ReportArrival& last, Duration until);
  /// Restarts the controller's measurements after a handover to another Node-B, but keeps the estimated rate.
  void restart();
  /// Sets the controller's initial mean rate of the radio link to a rate that was measured earlier.
  void seed(Rate rate);
  /// Copies from another bearer of the same UE the sequence number of the newest Node-B report whose allowance (bytes
  /// to send) was applied.
  void inherit(const AllowanceController& before) { applied_sequence_ = before.applied_sequence_; }
  /// Returns the mean rate of the radio link: the controller's own estimate if the proxy computes the allowance by SMVS
  /// (the sliding-mode controller), else `reported`.
  [[nodiscard]] Rate mean_rate(Rate reported) const {
    const auto* const here = std::get_if<ProxyController>(&controller_);
    return here != nullptr && here->law.state().steps > 0 ? here->law.state().mean_rate : reported;
  }
  /// Returns the sequence number of the newest Node-B report whose allowance (bytes to send) was applied; 0 if there is
  /// none.
  [[nodiscard]] std::uint64_t applied_sequence() const { return applied_sequence_; }
  /// Returns ŝ, the predicted length of the radio queue minus its target, in bytes, if the proxy computes the allowance
  /// by SMVS (the sliding-mode controller). Otherwise returns 0. Only for display.
  [[nodiscard]] double predicted_error() const;

 private:
  /// default of the constructor's `trace`: refers to no decision log, so that nothing is recorded
  static constexpr control::DecisionLog* no_trace = nullptr;

  /// controller for an allowance (bytes to send until the next report) that the Node-B computes and reports
  using NodeBController = control::NodeBAllowance;
  /// Controller that computes the allowance at the proxy by SMVS (the sliding-mode controller), from measurements in
  /// the Node-B reports.
  struct ProxyController {
    control::Smvs law;
    /// Configured parameters, from which fit() derives those in use if the time step of SMVS must equal the period of
    /// the Node-B reports. Null if the configured time step is used.
    const control::SmvsParameters* fits = nullptr;
    /// period of Node-B reports that was last passed to fit(), even if no parameters could be derived for it
    Duration period{};
  };
  using Controller = std::variant<NodeBController, ProxyController>;
  /// Creates the controller of the allowance: SMVS at the proxy if mode and smvs.law require it, else a controller that
  /// uses the allowance in Node-B reports.
  [[nodiscard]] static Controller make_controller(const PolicySettings& settings);
  /// Replaces the SMVS controller by one whose step equals `period`, the period of the Node-B reports. The step is
  /// limited to the range from 1 ms to 2 s. Keeps the controller if SMVS does not allow that step.
  void fit(ProxyController& controller, Duration period);

  /// Returns the allowance (bytes to send) in the Node-B report. If the report has none, returns its mean service rate
  /// × `period`. Ignores `in_flight` and `reference_factor`.
  [[nodiscard]] Bytes granted(NodeBController& controller, const ReportArrival& report, Bytes in_flight,
                              Duration period, double reference_factor);
  /// Runs one controller step with the measurements in a Node-B report, and returns the resulting allowance (bytes to
  /// send). `in_flight` is the number of IP bytes between the proxy and the radio queue. `reference_factor` multiplies
  /// the target queue length.
  [[nodiscard]] Bytes granted(ProxyController& controller, const ReportArrival& report, Bytes in_flight,
                              Duration period, double reference_factor);
  /// Ends the recording of this controller in the decision log, because the controller is about to be destroyed or
  /// replaced. Entries already written stay.
  void end_recording() const;
  /// Calls the controller function that the type `Call` names, and records the call in the decision log, if there is
  /// one.
  template <typename Call, typename... Arguments>
  auto ask(control::Smvs& law, const Arguments&... arguments);

  Controller controller_;
  control::DecisionLog* const* trace_;
  std::uint64_t applied_sequence_ = 0;
};

}  // namespace sluice::proxy

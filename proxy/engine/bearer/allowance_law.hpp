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
class LawTrace;
}

namespace sluice::proxy {

/// Report-based controller of a UE bearer, at the proxy or at the Node-B: turns a Node-B report into a grant (the bytes
/// that may be sent until the next report). The controller is chosen once, at construction; a further one is one more
/// alternative of Controller. Other modes grant nothing. Thread: the shard's.
class AllowanceLaw {
 public:
  /// Creates the controller for the policy's settings. `settings` outlives it. `trace` points to the owner's pointer to
  /// the decision log, which is null unless the UE is recorded.
  explicit AllowanceLaw(const PolicySettings& settings, control::LawTrace* const* trace = &no_trace);
  explicit AllowanceLaw(PolicySettings&& gone_before, control::LawTrace* const* trace = &no_trace) = delete;
  ~AllowanceLaw();
  AllowanceLaw(const AllowanceLaw&) = delete;
  AllowanceLaw& operator=(const AllowanceLaw&) = delete;

  /// Returns how many IP bytes may be sent until the next Node-B report, due after `period`. `in_flight`: IP bytes
  /// between the proxy and the radio queue. `reference_factor`: factor of the intended queue, used if SMVS runs at the
  /// proxy.
  [[nodiscard]] Bytes on_report(const ReportArrival& report, Bytes in_flight, Duration period,
                                double reference_factor = 1);
  /// Runs one controller step for the time in which the Node-B has omitted the unchanged UE from its reports. `until`:
  /// end of that time by the Node-B's clock.
  void on_omitted(const ReportArrival& last, Duration until);
  /// Restarts the controller's measurements after a handover to another Node-B; the rate estimate stays.
  void restart();
  /// Sets the initial mean rate to a rate that was measured before.
  void seed(Rate rate);
  /// Copies the sequence number of the newest Node-B report whose allowance was applied, from another bearer of the
  /// same UE.
  void inherit(const AllowanceLaw& before) { applied_sequence_ = before.applied_sequence_; }
  /// Returns the mean rate of the radio link: the controller's own estimate if SMVS runs at the proxy, else `reported`.
  [[nodiscard]] Rate mean_rate(Rate reported) const {
    const auto* const here = std::get_if<ProxyController>(&controller_);
    return here != nullptr && here->law.state().steps > 0 ? here->law.state().mean_rate : reported;
  }
  /// Returns the sequence number of the newest Node-B report whose allowance (bytes to send) was applied; 0 = none.
  [[nodiscard]] std::uint64_t applied_sequence() const { return applied_sequence_; }
  /// Returns the error ŝ of the queue that SMVS predicts, in bytes, if it runs at the proxy, else 0; for display only.
  [[nodiscard]] double predicted_error() const;

 private:
  static constexpr control::LawTrace* no_trace = nullptr;  ///< no trace receiver

  using NodeBController = control::NodeBAllowance;  ///< the Node-B computes the allowance and reports it
  /// State for SMVS at the proxy: the Node-B report contains measurements, and the proxy computes the allowance.
  struct ProxyController {
    control::Smvs law;
    /// Configured parameters from which parameters for another period of Node-B reports are derived; null if the
    /// configured step applies to every period.
    const control::SmvsParameters* fits = nullptr;
    Duration period{};  ///< report period for which fit() was last called, whether or not it succeeded
  };
  using Controller = std::variant<NodeBController, ProxyController>;
  /// Creates the controller that the mode and smvs.law select.
  [[nodiscard]] static Controller make_controller(const PolicySettings& settings);
  /// Replaces SMVS by a controller whose step is the period of the Node-B reports, if the SMVS rules hold for that
  /// step.
  void fit(ProxyController& controller, Duration period);

  /// Returns the allowance (bytes to send) that the Node-B report contains.
  [[nodiscard]] Bytes granted(NodeBController& controller, const ReportArrival& report, Bytes in_flight,
                              Duration period, double reference_factor);
  /// Runs one SMVS step on the measurements in a Node-B report and returns its allowance (bytes to send).
  [[nodiscard]] Bytes granted(ProxyController& controller, const ReportArrival& report, Bytes in_flight,
                              Duration period, double reference_factor);
  /// Removes the controller from the decision log, because it is about to be destroyed or replaced.
  void leave_trace() const;
  /// Calls the controller and records the call in the decision log, if there is one.
  template <typename Call, typename... Arguments>
  auto ask(control::Smvs& law, const Arguments&... arguments);

  Controller controller_;
  control::LawTrace* const* trace_;
  std::uint64_t applied_sequence_ = 0;
};

}  // namespace sluice::proxy

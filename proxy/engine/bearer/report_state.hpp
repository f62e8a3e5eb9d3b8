#pragma once

#include <cstdint>

#include "control/ack_based/report_check.hpp"
#include "control/smvs/fallback.hpp"
#include "control/smvs/sampling_rate_check.hpp"
#include "control/smvs/step_length_check.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/bearer/allowance_controller.hpp"
#include "proxy/engine/bearer/report_sequencer.hpp"
#include "proxy/engine/bearer/send_grant.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// State of a bearer that a Node-B has reported on, or that runs in mode observe (decisions computed, not applied).
/// Contains the reports, whether they arrive in time, and the allowance (bytes to send until the next report). Thread:
/// the shard's.
struct ReportState {
  ReportState(const PolicySettings& settings, control::DecisionLog* const* trace)
      : reports(settings.smvs.fallback.maximum), fallback(settings.smvs.fallback), law(settings, trace) {}

  /// True if Node-B reports arrive in time (at least once in several report periods), so that a report-based controller
  /// may limit the bearer.
  [[nodiscard]] bool reports_are_timely() const { return fallback.source() == control::ControlSource::feedback; }
  /// Returns the mean rate of the radio link: the controller's estimate if the proxy computes the allowance (bytes to
  /// send), else that of the Node-B. Zero while unknown.
  [[nodiscard]] Rate mean_rate() const { return law.mean_rate(reports.last().bearer.mean_service_rate); }
  /// Replaces a missing Node-B report: grants the bytes that the link carries in one report period at `mean_rate`.
  /// `waits` is true if there is data to send.
  void extrapolate_missing_report(Rate mean_rate, bool waits);
  /// Subtracts `bytes`, which were just sent, from the allowance (bytes that the last Node-B report permits). The timer
  /// that detects a missing report can be suspended while nothing is sent, and sent bytes restart it. Returns true if
  /// this call has restarted that timer.
  bool spend(Bytes bytes, Instant now);

  /// Handles a notice that the Node-B `sender` omitted unchanged UEs, so that the last report about this UE may still
  /// be valid. `idle` is true if the bearer has sent nothing since the last grant of bytes and has nothing to send.
  void on_omitted(const SuppressingNodeB& sender, bool idle);
  /// Stops the timer after which the proxy itself grants bytes in place of a missing Node-B report. Must be called only
  /// if the bearer has nothing to send. Has no effect unless the Node-B `sender`, which omits unchanged UEs, sent the
  /// last report.
  void suspend(const SuppressingNodeB& sender);
  /// Runs the controller for the time in which the Node-B `sender` omitted the UE, because the UE's state was
  /// unchanged. `next` is the first report that contains the UE again; on_report() must be called for it afterwards.
  void on_reported_again(const SuppressingNodeB& sender, const ReportArrival& next);

  ReportSequencer reports;
  control::Fallback fallback;
  AllowanceController law;
  SendGrant grant;
  MissingReportExtrapolator extrapolator;
  /// total number of IP bytes sent to the UE when the last Node-B report was applied
  std::uint64_t sent_at_report = 0;
  control::ReportCheck check;  ///< compares the Node-B reports with the UE's ACKs, if the ACK-based controller runs
  /// false while the Node-B's reports are distrusted, because the UE's ACKs have contradicted them for some seconds
  bool trusted = true;
  Bytes radio_load{};  ///< bytes that were in the radio queue or in flight to it when the last Node-B report arrived
  /// Factor (0 … 1) by which the target queue was multiplied in the controller step for the last Node-B report. It is
  /// below 1 if a short flow (less than smvs.short_flow sent) was active beside a download at that time.
  double reference_factor = 1;
  /// detects that the period of Node-B reports is too long: the link could empty the radio buffer within one period
  control::StepLengthCheck step_length_check;
  /// detects that the period of Node-B reports is too long to follow the variation of the link's rate
  control::SamplingRateCheck sampling_rate_check;
  /// Sums that compare the controller's decisions for this bearer with the actual traffic in mode observe, in which
  /// decisions are not applied.
  Observed observed;
};

}  // namespace sluice::proxy

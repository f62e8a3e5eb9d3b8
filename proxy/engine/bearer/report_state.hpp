#pragma once

#include <cstdint>

#include "control/smvs/fallback.hpp"
#include "control/smvs/sampling_rate_check.hpp"
#include "control/smvs/step_length_check.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/bearer/allowance_law.hpp"
#include "proxy/engine/bearer/report_sequencer.hpp"
#include "proxy/engine/bearer/send_grant.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// State of a UE bearer that exists once its UE was reported by a Node-B, or observed: the reports, their timeliness
/// and the grant (bytes to send) from them. Thread: the shard's.
struct ReportState {
  ReportState(const PolicySettings& settings, control::LawTrace* const* trace)
      : reports(settings.smvs.fallback.maximum), fallback(settings.smvs.fallback), law(settings, trace) {}

  /// True if Node-B reports arrive in time, so that a report-based controller may limit the bearer.
  [[nodiscard]] bool come_in_time() const { return fallback.source() == control::ControlSource::feedback; }
  /// Returns the mean rate of the radio link: the estimate of SMVS if it runs at the proxy, else the Node-B's; zero
  /// while unknown.
  [[nodiscard]] Rate mean_rate() const { return law.mean_rate(reports.last().bearer.mean_service_rate); }
  /// Replaces a missing Node-B report: grants the bytes that the link carries in one report period at `mean_rate`.
  /// `waits`: true if data is unsent.
  void extrapolate_missing_report(Rate mean_rate, bool waits);
  /// Subtracts `bytes` just sent from the grant, which is the number of bytes that the last Node-B report allows.
  /// Returns true if that has re-armed the missing-report timer, which is suspended while nothing is sent.
  bool spend(Bytes bytes, Instant now);

  /// Handles a notice that the Node-B leaves unchanged UEs out of its reports, so that the UE's last report may still
  /// be valid. `idle`: true if nothing is unsent and nothing was sent since the last controller step.
  void on_omitted(const SuppressingNodeB& sender, bool idle);
  /// Suspends the missing-report timer, because the Node-B `sender` leaves unchanged UEs out of its reports and the
  /// bearer has nothing to send.
  void suspend(const SuppressingNodeB& sender);
  /// Advances the controller over the interval in which the Node-B `sender` left the unchanged UE out of its reports.
  /// Call it before on_report() of `next`, the first report that contains the UE again.
  void on_named_again(const SuppressingNodeB& sender, const ReportArrival& next);

  ReportSequencer reports;
  control::Fallback fallback;
  AllowanceLaw law;
  SendGrant grant;
  MissingReportExtrapolator extrapolator;
  std::uint64_t sent_at_report = 0;  ///< IP bytes sent to the UE up to the last Node-B report
  bool trusted = true;               ///< true if ACKs did not contradict the last Node-B report
  Bytes radio_load{};                ///< bytes in the radio queue and in flight to it, as of the last Node-B report
  double reference_factor = 1;       ///< factor of the intended queue at the last Node-B report
  control::StepLengthCheck step_length_check;  ///< detects a period of Node-B reports that is too long for the buffer
  control::SamplingRateCheck
      sampling_rate_check;  ///< detects a period of Node-B reports that is too long for the link's variation
  Observed observed;        ///< decisions recorded in mode observe
};

}  // namespace sluice::proxy

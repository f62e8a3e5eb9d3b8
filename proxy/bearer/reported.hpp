#pragma once

#include <cstdint>

#include "control/fallback.hpp"
#include "control/step_watch.hpp"
#include "control/variation_watch.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/bearer/allowance_law.hpp"
#include "proxy/bearer/grant.hpp"
#include "proxy/bearer/report_stream.hpp"
#include "proxy/policy/treatment.hpp"
#include "proxy/shard/info.hpp"

namespace sluice::proxy {

/// What a bearer keeps once its UE was reported, or observed: the reports, whether they come in time, and what was
/// granted by them. Thread: the shard's.
struct Reported {
  Reported(const Treatment& treatment, control::LawTrace* const* trace)
      : reports(treatment.smvs.fallback.maximum), fallback(treatment.smvs.fallback), law(treatment, trace) {}

  /// They steer, if anybody wants to be steered by them.
  [[nodiscard]] bool come_in_time() const { return fallback.source() == control::ControlSource::feedback; }
  /// Of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const { return law.mean_rate(reports.last().bearer.mean_service_rate); }
  /// A step that stands in for a report that is missing: what the link carries in a period. `waits`: something is to be
  /// sent.
  void bridge_gap(Rate mean_rate, bool waits);
  /// So much was sent of the grant. True when a report is waited for since then.
  bool spend(Bytes bytes, Instant now);

  /// The sender of the last report leaves out UEs of which nothing has changed: the report may hold still. `at_rest`:
  /// nothing is to be sent.
  void on_left_out(const LeavingSender& sender, bool at_rest);
  /// … and has just spoken of this one, of which nothing is to be sent: no report is missed until it is its turn.
  void rest(const LeavingSender& sender);
  /// … and speaks of this UE again, by the report `next`, which is still to come: in between the law has stood still.
  void on_named_again(const LeavingSender& sender, const ReportArrival& next);

  ReportStream reports;
  control::Fallback fallback;
  AllowanceLaw law;
  Grant grant;
  ReportBridge bridge;
  std::uint64_t sent_at_report = 0;   ///< IP bytes to the UE, as of the last report
  bool trusted = true;                ///< the last report was
  Bytes radio_load{};                 ///< queue and in flight, as of the last report
  double reference_part = 1;          ///< of the law's, as of then
  control::StepWatch step_watch;      ///< told of every report that steers by SMVS
  control::VariationWatch variation;  ///< likewise
  Observed observed;                  ///< what mode observe has recorded
};

}  // namespace sluice::proxy

#pragma once

#include <span>
#include <vector>

#include "control/feedback/report.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/bearer/report_sequencer.hpp"
#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/rate_control/cross_traffic_sender.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Processes Node-B reports and bearer timers: runs the bearer's controller, and lets its flows send the granted bytes.
/// Thread: the shard's.
class ReportDispatcher {
 public:
  /// Keeps references to its arguments, which outlive it.
  ReportDispatcher(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end,
                   CrossTrafficSender& cross_traffic)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), cross_traffic_(cross_traffic) {}

  /// Processes reports whose amounts and rates are within bounds (control::feedback::bound).
  void on_reports(std::span<const ReportArrival> reports, Instant now);
  /// Handles omission notices: Node-Bs that report only changed UEs confirm that omitted UEs are unchanged.
  void on_omissions(std::span<const OmissionNotice> omissions, Instant now);
  /// Handles the expired timer of a bearer.
  void on_due(BearerId id, Instant now);
  /// Applies the bearer's rate control mode to a flow, because the flow has moved to this bearer or the bearer has
  /// another controller.
  void steer(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// Arms the bearer's timer at its next deadline.
  void reschedule(BearerId id, Instant now);
  /// Appends the statuses for the Node-B: one per UE, summed over its bearers. If `all` is false, only UEs that changed
  /// since the last call are included.
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);
  /// Returns the totals of the reports, for the treated UEs and for the control group.
  [[nodiscard]] const GroupStatistics& groups() const { return groups_; }

 private:
  /// Processes reports of different UEs with prefetching.
  void on_batch(std::span<const ReportArrival> reports, Instant now);
  /// Processes one report for all bearers of the UE; `id` is one of them.
  void on_report(const ReportArrival& report, BearerId id, Instant now);
  /// Prefetches a bearer's controller and the flow that it serves next.
  void prefetch_flow(BearerId id) const;
  /// Handles the time between the last report and `report`, in which the Node-B may have omitted the UE.
  void on_pause(Bearer& first, const ReportArrival& report);
  /// Applies a report to one bearer. Returns false if the report is stale; it is then stale for all bearers of the UE.
  bool take(Bearer& bearer, const ReportArrival& report, Instant now);
  /// Adds the report to the totals of the UE's group.
  void count_group(const Bearer& bearer, const ReportArrival& report, Instant arrived);
  /// Applies the bearer's rate control mode to all its flows.
  void steer(Bearer& bearer, Instant now);
  /// Lets the bearer's flows send within its budget.
  void serve(BearerId id, Instant now);
  /// Lets each flow send one round of its budget. Returns true if another round may send more.
  bool serve_round(Bearer& bearer, bool short_flows_only, Instant now);
  /// Serves all flows with unsent data, because per-flow windows may have opened.
  void serve_flow_windows(Bearer& bearer, Instant now);
  /// Schedules flows whose server has a closed window, because a report may open it.
  void serve_closed_windows(Bearer& bearer, Instant now);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  CrossTrafficSender& cross_traffic_;
  SuppressingNodeBs senders_;  ///< state of the Node-Bs that leave unchanged UEs out of their reports
  GroupStatistics groups_{};
};

}  // namespace sluice::proxy

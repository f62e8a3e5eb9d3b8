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

/// Processes Node-B reports and timers of UE bearers: runs the rate controller of the bearer, and allows its flows to
/// send the granted bytes. Thread: the shard's.
class ReportDispatcher {
 public:
  /// Keeps references to its arguments, which outlive it.
  ReportDispatcher(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end,
                   CrossTrafficSender& cross_traffic)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), cross_traffic_(cross_traffic) {}

  /// Processes Node-B reports whose amounts and rates are within bounds (control::feedback::bound).
  void on_reports(std::span<const ReportArrival> reports, Instant now);
  /// Handles omission notices: Node-Bs that report only changed UEs confirm that omitted UEs are unchanged.
  void on_omissions(std::span<const OmissionNotice> omissions, Instant now);
  /// Handles the expired timer of a bearer.
  void on_due(BearerId id, Instant now);
  /// Applies the bearer's rate control mode (what limits sending) to a flow. The flow has moved to this bearer, or the
  /// bearer has another controller.
  void steer(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// Arms the bearer's timer at its next deadline.
  void reschedule(BearerId id, Instant now);
  /// Appends the statuses (messages to the Node-B): one per UE, summed over its bearers. If `all` is false, only UEs
  /// that changed since the last call are included.
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);
  /// Returns the totals of the Node-B reports, for the UEs that rate controllers limit and for the control group.
  [[nodiscard]] const GroupStatistics& groups() const { return groups_; }

 private:
  /// Processes Node-B reports of different UEs with prefetching.
  void on_batch(std::span<const ReportArrival> reports, Instant now);
  /// Processes one report for all bearers of the UE; `id` is one of them, or no_flow.
  void on_report(const ReportArrival& report, BearerId id, Instant now);
  /// Creates the bearer of a UE without connections, so that its reports limit its cross traffic (QUIC, other
  /// datagrams). Returns no_flow if the UE's radio queue is empty, the policy does not allow this, or few bearers are
  /// left.
  BearerId open_for_cross_traffic(const ReportArrival& report, Instant now);
  /// Returns when the bearer ends if nothing uses it until then, or `never` while it has connections.
  [[nodiscard]] Instant idle_deadline(const Bearer& bearer) const;
  /// Prefetches the rate controller of a bearer and the flow that it serves next.
  void prefetch_flow(BearerId id) const;
  /// Handles the time between the last Node-B report and `report`, in which the Node-B may have left the unchanged UE
  /// out.
  void on_pause(Bearer& first, const ReportArrival& report);
  /// Applies a Node-B report to one bearer of the UE. Returns false if the report is stale; it is then stale for all
  /// bearers of the UE.
  bool take(Bearer& bearer, const ReportArrival& report, Instant now);
  /// Adds the Node-B report to the totals of the UE's group (control group or all other UEs).
  void count_group(const Bearer& bearer, const ReportArrival& report, Instant arrived);
  /// Applies the bearer's rate control mode (what limits sending) to all its flows.
  void steer(Bearer& bearer, Instant now);
  /// Makes the bearer's flows send within its budget.
  void serve(BearerId id, Instant now);
  /// Makes each flow of the bearer send one round of its budget. Returns true if another round may send more.
  bool serve_round(Bearer& bearer, bool short_flows_only, Instant now);
  /// Serves all flows of the bearer with unsent data, because per-flow windows may have opened.
  void serve_flow_windows(Bearer& bearer, Instant now);
  /// Schedules flows whose server has a closed window, because a Node-B report may open it.
  void serve_closed_windows(Bearer& bearer, Instant now);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  CrossTrafficSender& cross_traffic_;
  SuppressingNodeBs senders_;  ///< state of the Node-Bs that omit unchanged UEs from their reports
  GroupStatistics groups_{};
};

}  // namespace sluice::proxy

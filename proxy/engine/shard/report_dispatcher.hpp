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

/// Processes Node-B reports and timers of bearers (all connections of a UE under one policy). Runs the bearer's rate
/// controller, and makes its flows send the bytes that the controller grants. Thread: the shard's.
class ReportDispatcher {
 public:
  /// Stores references to its arguments, which must outlive the object.
  ReportDispatcher(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end,
                   CrossTrafficSender& cross_traffic)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), cross_traffic_(cross_traffic) {}

  /// Processes Node-B reports. Their values must already be limited by control::feedback::bound().
  void on_reports(std::span<const ReportArrival> reports, Instant now);
  /// Handles omission notices. Such a notice of a Node-B states that it has omitted only UEs whose state is unchanged.
  void on_omissions(std::span<const OmissionNotice> omissions, Instant now);
  /// Handles the expiry of a bearer's timer.
  void on_due(BearerId id, Instant now);
  /// Applies the bearer's rate control mode to the flow. The mode selects what limits the flow's sending: bytes that
  /// the controller allows the whole bearer, a per-flow window, or only congestion control. Called after the flow has
  /// moved to the bearer, or after the bearer's mode has changed.
  void apply_rate_control(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// Sets the bearer's timer to the bearer's next deadline.
  void reschedule(BearerId id, Instant now);
  /// Appends one status for each UE, summed over its bearers, for messages to the Node-B. If `all` is false, includes
  /// only UEs whose status has changed since the last call.
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);
  /// Returns the totals of Node-B reports for two groups: UEs that rate controllers may limit, and the control group,
  /// which they never limit.
  [[nodiscard]] const GroupStatistics& groups() const { return groups_; }

 private:
  /// Processes Node-B reports about different UEs, with prefetching.
  void on_batch(std::span<const ReportArrival> reports, Instant now);
  /// Processes one Node-B report for all bearers of the UE. `id` is any of these bearers, or no_flow if the UE has
  /// none.
  void on_report(const ReportArrival& report, BearerId id, Instant now);
  /// Creates the bearer of a UE without connections, so that the Node-B reports about the UE limit its cross traffic
  /// (QUIC, other datagrams). Returns no_flow if the UE's radio queue is empty, or if the policy does not allow this.
  /// Also returns no_flow if the UE is in the control group (limited by no rate controller), or if too few bearers are
  /// free.
  BearerId open_for_cross_traffic(const ReportArrival& report, Instant now);
  /// Returns the time at which the bearer is removed if nothing uses it until then, or `never` while it has
  /// connections.
  [[nodiscard]] Instant idle_deadline(const Bearer& bearer) const;
  /// Prefetches the rate controller of a bearer, and the flow that sends first when bytes are next distributed.
  void prefetch_flow(BearerId id) const;
  /// Called before `report` is applied, if the Node-B that sent the UE's last report omits unchanged UEs. If it has
  /// omitted the UE since then, runs the controllers of all bearers of the UE once for that whole time. `first` is any
  /// of these bearers.
  void on_pause(Bearer& first, const ReportArrival& report);
  /// Applies a Node-B report to one bearer of the UE. Returns false if the report is not newer than the last one. The
  /// report is then not newer for the UE's other bearers either.
  bool take(Bearer& bearer, const ReportArrival& report, Instant now);
  /// Adds a Node-B report, which arrived at `arrived`, to the totals of the UE's group: the control group, which rate
  /// controllers never limit, or all other UEs.
  void count_group(const Bearer& bearer, const ReportArrival& report, Instant arrived);
  /// Applies the bearer's rate control mode, which selects what limits sending, to all its flows.
  void apply_rate_control(Bearer& bearer, Instant now);
  /// Makes the flows of the bearer send as many bytes as its controller allows all of them together.
  void serve(BearerId id, Instant now);
  /// Makes the flows of the bearer send bytes that the controller allows them together, each at most two full packets
  /// (`turn`). A single flow may send all of them. With `short_flows_only`, only flows that have sent less than
  /// smvs.short_flow send. Returns true if a further call may send more.
  bool serve_round(Bearer& bearer, bool short_flows_only, Instant now);
  /// Makes all flows of the bearer that have unsent data send what the windows of their per-flow controllers allow.
  /// Called because a Node-B report may have opened these windows.
  void serve_flow_windows(Bearer& bearer, Instant now);
  /// Updates the window advertised to the server for those flows of the bearer for which that window is closed or
  /// changes only with Node-B reports.
  void serve_closed_windows(Bearer& bearer, Instant now);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  CrossTrafficSender& cross_traffic_;
  SuppressingNodeBs senders_;  ///< state of each Node-B that omits unchanged UEs from its reports
  GroupStatistics groups_{};
};

}  // namespace sluice::proxy

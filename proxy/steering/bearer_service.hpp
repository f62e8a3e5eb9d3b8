#pragma once

#include <span>
#include <vector>

#include "control/feedback/report.hpp"
#include "proxy/bearer/report_stream.hpp"
#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/report_arrival.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// What the Node-B says of a UE's queue, and what the UE's connections may send because of it. Thread: the shard's.
class BearerService {
 public:
  /// What it is given outlives it.
  BearerService(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end) {}

  /// Their amounts and rates are bounded (control::feedback::bound).
  void on_reports(std::span<const ReportArrival> reports, Instant now);
  /// What Node-Bs say that leave out UEs of which nothing has changed.
  void on_words(std::span<const SenderWord> words, Instant now);
  /// The timer wheel has come to the bearer.
  void on_due(BearerId id, Instant now);
  /// The flow has another bearer, or its bearer another law: what steers it is this one from now on.
  void steer(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// Looks at the bearer when its deadline wants it.
  void reschedule(BearerId id, Instant now);
  /// What the Node-B is to be told: one entry for each UE, of its bearers together, of those that changed since the
  /// last call (all, when `all`).
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);
  /// What the control group and the others came to.
  [[nodiscard]] const GroupStatistics& groups() const { return groups_; }

 private:
  void on_batch(std::span<const ReportArrival> reports, Instant now);
  void on_report(const ReportArrival& report, BearerId id, Instant now);
  void prefetch_flow(BearerId id) const;
  void hear_of_pause(Bearer& first, const ReportArrival& report);
  bool take(Bearer& bearer, const ReportArrival& report, Instant now);
  void count_group(const Bearer& bearer, const ReportArrival& report, Instant arrived);
  void steer(Bearer& bearer, Instant now);
  void serve(BearerId id, Instant now);
  bool serve_round(Bearer& bearer, bool short_flows_only, Instant now);
  void serve_windowed(Bearer& bearer, Instant now);
  void serve_shut(Bearer& bearer, Instant now);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  LeavingSenders senders_;
  GroupStatistics groups_{};
};

}  // namespace sluice::proxy

#pragma once

#include <cstdint>
#include <span>

#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/flow_journal.hpp"
#include "proxy/engine/rate_control/budget_sharing.hpp"
#include "proxy/engine/rate_control/receive_window_control.hpp"
#include "proxy/engine/rate_control/split_flow_controllers.hpp"
#include "proxy/engine/relay/relay.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"
#include "proxy/engine/split/flow_timers.hpp"
#include "proxy/engine/split/pending_flows.hpp"

namespace sluice::proxy {

/// Objects that the functions for split connections share (rx_path, pure_ack, cut_through, transmit): the components of
/// a shard, and the list of scheduled flows. The functions keep no state of their own. Thread: the shard's.
struct SplitContext {
  /// Keeps references to the shard's objects, which outlive this one.
  SplitContext(const ShardContext& shard_context, FlowJournal kept)
      : shard(shard_context),
        ack_limit(shard.config.limits),
        buffer_quota(shard.config, shard.budget),
        receive_windows(shard.registry, shard.config.limits.max_flows, buffer_quota, ack_limit),
        flow_controllers(shard.registry, shard.config.limits.max_flows),
        budget_sharing(shard.config.limits.max_flows),
        flow_timers(shard),
        journal(kept),
        pending(shard.config.limits.max_flows) {}
  SplitContext(const SplitContext&) = delete;
  SplitContext& operator=(const SplitContext&) = delete;

  /// Updates the journal entry if the flow begins or ceases to expose bytes (acknowledged to one host and not by the
  /// other). Call it before an ACK for data is sent, because the journal must never state less than the hosts have
  /// received.
  void keep_journal(Flow& flow, FlowId id) {
    if (!journal.keeps()) return;
    if (const bool exposed = relay::exposing(flow); exposed != flow.journaled) write_journal(flow, id, exposed);
  }

  /// Counts the bytes of received segments of a split connection, and the segments in the connection's record.
  void count_received(const Flow& flow, FlowId id, Side in, std::span<const packet::Parsed> parsed) {
    std::uint64_t bytes = 0;
    for (const packet::Parsed& each : parsed) bytes += each.ip_length;
    const bool steered = shard.registry.bearer(flow.bearer).rate_control().is_rate_controlled();
    shard.counters.add_controlled_bytes(steered, bytes + parsed.size() * parsed.front().ip_offset);
    shard.records.count(ConnectionRecords::Table::split, id, in, bytes, parsed.size());
  }

  const ShardContext shard;
  UndeliveredAckLimit ack_limit;
  RelayBufferQuota buffer_quota;
  ReceiveWindowControl receive_windows;
  SplitFlowControllers flow_controllers;
  BudgetSharing budget_sharing;
  FlowTimers flow_timers;
  FlowJournal journal;
  PendingFlows pending;

  /// Feeds the bearer's ACK-based controller with an ACK of the UE. Cross traffic that waits may be sent before the
  /// burst ends. Requires that the bearer uses ACKs.
  void feed_controller(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckSample& ack_sample, Instant now) {
    budget_sharing.on_ack(flow, id, bearer, ack_sample, now);
    if (bearer.has_cross_traffic_queue()) [[unlikely]]
      shard.registry.wake_cross_traffic(bearer.id);
  }

 private:
  /// Writes whether the flow exposes bytes to its journal entry, and records in the flow what was written.
  [[gnu::noinline]] void write_journal(Flow& flow, FlowId id, bool exposed) {
    flow.journaled = exposed;
    journal.record(id, flow, exposed);
  }
};

/// True if only the buffer quota limits this flow's windows: no controller steers it, its ACKs feed no estimator, no
/// ACK is withheld, it is no short flow, and it has no unsent bytes.
[[nodiscard]] inline bool is_plain(const Flow& flow, const Bearer& bearer) {
  return !bearer.rate_control().is_rate_controlled() && !bearer.rate_control().limits_inflight() &&
         !bearer.rate_control().uses_ack_feedback() && !UndeliveredAckLimit::waits(flow) && !flow.share.short_flow &&
         flow.share.backlog == 0;
}

}  // namespace sluice::proxy

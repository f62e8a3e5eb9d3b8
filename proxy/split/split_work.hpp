#pragma once

#include "proxy/flows/flow_journal.hpp"
#include "proxy/relay/exposure.hpp"
#include "proxy/relay/relay.hpp"
#include "proxy/relay/relay_memory.hpp"
#include "proxy/shard/context.hpp"
#include "proxy/split/appointments.hpp"
#include "proxy/split/marked_flows.hpp"
#include "proxy/steering/ack_steering.hpp"
#include "proxy/steering/flow_windows.hpp"
#include "proxy/steering/receive_windows.hpp"

namespace sluice::proxy {

/// What split connections at work have in common: a part for each thing that is to be seen to, and the flows that are
/// to be served. The functions of arrivals, cut_through, hearing and sending work on it, and keep nothing of
/// their own. Thread: the shard's.
struct SplitWork {
  /// What it is given outlives it.
  SplitWork(const ShardContext& context, FlowJournal kept)
      : shard(context),
        exposure(shard.config.limits),
        memory(shard.config, shard.budget),
        receive_windows(shard.registry, shard.config.limits.max_flows, memory, exposure),
        windows(shard.registry, shard.config.limits.max_flows),
        acks(shard.config.limits.max_flows),
        appointments(shard),
        journal(kept),
        marked(shard.config.limits.max_flows) {}
  SplitWork(const SplitWork&) = delete;
  SplitWork& operator=(const SplitWork&) = delete;

  /// Before anything leaves that acknowledges: the journal must not say less than the hosts are told.
  void keep_journal(Flow& flow, FlowId id) {
    if (!journal.keeps()) return;
    if (const bool exposed = relay::exposing(flow); exposed != flow.journaled) write_journal(flow, id, exposed);
  }

  const ShardContext shard;
  Exposure exposure;
  RelayMemory memory;
  ReceiveWindows receive_windows;
  FlowWindows windows;
  AckSteering acks;
  Appointments appointments;
  FlowJournal journal;
  MarkedFlows marked;

 private:
  [[gnu::noinline]] void write_journal(Flow& flow, FlowId id, bool exposed) {
    flow.journaled = exposed;
    journal.note(id, flow, exposed);
  }
};

/// The windows of the flow go by memory alone, nobody listens to its acknowledgements or waits for it, and nothing of
/// it waits.
[[nodiscard]] inline bool is_plain(const Flow& flow, const Bearer& bearer) {
  return !bearer.lead().steered() && !bearer.lead().bounds() && !bearer.lead().listens() && !Exposure::waits(flow) &&
         !flow.share.young && flow.share.backlog == 0;
}

}  // namespace sluice::proxy

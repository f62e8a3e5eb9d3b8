#include "emulator/runtime/flow_queues.hpp"

namespace sluice::emulator {

FlowQueues::Flow& FlowQueues::flow_of(UeIndex ue, const packet::Packet& packet) {
  const FlowKey key = read_flow_key(packet.bytes()).value_or(FlowKey{});
  const auto [at, fresh] = numbers_.try_emplace(key, flows_.size());
  if (fresh) {
    flows_.emplace_back();
    flows_.back().ue = ue;
    flows_.back().key = key;
  }
  return flows_[at->second];
}

void FlowQueues::departed(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing) {
  Flow& flow = flow_of(ue, packet);
  ++flow.packets;
  flow.bytes += static_cast<std::uint64_t>(length.count());
  flow.byte_seconds += static_cast<double>(length.count()) * to_seconds(queueing);
  flow.delays.add(queueing);
}

void FlowQueues::dropped(UeIndex ue, const packet::Packet& packet, Bytes length) {
  Flow& flow = flow_of(ue, packet);
  ++flow.dropped_packets;
  flow.dropped_bytes += static_cast<std::uint64_t>(length.count());
}

std::vector<QueueRow> FlowQueues::rows(const RadioCell& cell, double seconds) const {
  std::vector<QueueRow> rows;
  for (const Flow& flow : flows_) {
    QueueRow row;
    row.ue = cell.address(flow.ue).to_string();
    row.source = flow.key.source.to_string();
    row.source_port = flow.key.source_port;
    row.ue_port = flow.key.destination_port;
    row.packets = flow.packets;
    row.bytes = flow.bytes;
    row.dropped_packets = flow.dropped_packets;
    row.dropped_bytes = flow.dropped_bytes;
    row.queue_mean_bytes = seconds > 0 ? flow.byte_seconds / seconds : 0;
    row.delay = summarize(flow.delays);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sluice::emulator

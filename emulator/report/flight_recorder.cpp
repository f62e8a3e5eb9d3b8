// Delays of TCP segments from server and proxy to the UE, measured from passing packets. Meter feeds it. Invariant:
// positions are 64-bit byte counts per flow, so sequence numbers may wrap; memory per flow is bounded. Only the first
// copy of a segment counts, so the delay includes loss recovery.

#include "emulator/report/flight_recorder.hpp"

#include <algorithm>
#include <utility>

namespace sluice::emulator {

std::size_t FlowIdHash::operator()(const FlowId& flow) const noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = std::uint64_t{flow.source_port} << 16 | flow.destination_port;
  for (const IpAddress* const address : {&flow.source, &flow.destination}) {
    for (const std::uint64_t word : address->words()) {
      mixed = (mixed ^ word) * odd;
      mixed ^= mixed >> 32;
    }
  }
  return mixed;
}

FlightRecorder::Flow& FlightRecorder::flow_at(const FlowId& id, tcp::SeqNum first_seen) {
  const auto [entry, fresh] = flows_.try_emplace(id);
  Flow& flow = entry->second;
  if (fresh) {
    flow.reference = first_seen;
    flow.position = origin;
    flow.server_end = flow.proxy_end = flow.acked = origin;
  }
  return flow;
}

// Extends a sequence number to a 64-bit position. The reference follows the largest number, so a flow may carry any
// number of bytes.
std::uint64_t FlightRecorder::position_of(Flow& flow, tcp::SeqNum number) {
  const std::int64_t distance = number - flow.reference;
  const auto position = static_cast<std::uint64_t>(static_cast<std::int64_t>(flow.position) + distance);
  if (distance > 0) {
    flow.reference = number;
    flow.position = position;
  }
  return position;
}

FlightRecorder::Segment* FlightRecorder::find(Flow& flow, std::uint64_t end) {
  const auto at = std::lower_bound(flow.segments.begin(), flow.segments.end(), end,
                                   [](const Segment& segment, std::uint64_t wanted) { return segment.end < wanted; });
  return at != flow.segments.end() && at->end == end ? &*at : nullptr;
}

FlightRecorder::Segment& FlightRecorder::find_or_insert(Flow& flow, std::uint64_t end) {
  if (flow.segments.empty() || flow.segments.back().end < end) {
    if (flow.segments.size() >= max_segments) {
      if (!flow.segments.front().arrived) ++unmatched_;
      flow.segments.pop_front();
    }
    return flow.segments.emplace_back(Segment{end, never, never, false});
  }
  const auto at = std::lower_bound(flow.segments.begin(), flow.segments.end(), end,
                                   [](const Segment& segment, std::uint64_t wanted) { return segment.end < wanted; });
  if (at->end == end) return *at;
  return *flow.segments.insert(at, Segment{end, never, never, false});
}

void FlightRecorder::leaves_server(Flow& flow, std::uint64_t end, Instant now) {
  if (end <= flow.server_end) {
    if (now >= measure_from_) ++server_retransmissions_;
    return;
  }
  flow.server_end = end;
  find_or_insert(flow, end).left_server = now;
}

void FlightRecorder::leaves_proxy(Flow& flow, std::uint64_t end, Instant now) {
  if (end <= flow.proxy_end) {
    if (now >= measure_from_) {
      ++proxy_retransmissions_;
      ++interval_.retransmissions;
    }
    // A retransmission only counts if the segment had other boundaries before; else its first send time stays.
    Segment* const known = find(flow, end);
    if (known != nullptr && known->left_proxy == never) known->left_proxy = now;
    return;
  }
  flow.proxy_end = end;
  find_or_insert(flow, end).left_proxy = now;
}

void FlightRecorder::arrives(Flow& flow, std::uint64_t end, Instant now) {
  Segment* const segment = find(flow, end);
  if (segment == nullptr) {
    if (end > flow.acked) ++unmatched_;
    return;
  }
  if (segment->arrived) return;
  segment->arrived = true;
  if (now < measure_from_) return;
  if (segment->left_proxy != never) {
    const Duration delay = now - segment->left_proxy - propagation_.proxy_to_ue;
    proxy_to_ue_.add(delay);
    interval_.proxy_to_ue_max = std::max(interval_.proxy_to_ue_max.value_or(delay), delay);
  }
  if (segment->left_server != never) {
    const Duration delay = now - segment->left_server - propagation_.server_to_proxy - propagation_.proxy_to_ue;
    server_to_ue_.add(delay);
    interval_.server_to_ue_max = std::max(interval_.server_to_ue_max.value_or(delay), delay);
  }
}

void FlightRecorder::data(FlightPoint point, const FlowId& id, tcp::SeqNum end, std::uint32_t payload_len,
                          Instant now) {
  Flow& flow = flow_at(id, end - payload_len);
  const std::uint64_t position = position_of(flow, end);
  switch (point) {
    case FlightPoint::server_out:
      leaves_server(flow, position, now);
      break;
    case FlightPoint::proxy_out:
      leaves_proxy(flow, position, now);
      break;
    case FlightPoint::ue_in:
      arrives(flow, position, now);
      break;
  }
}

void FlightRecorder::acknowledged(const FlowId& id, tcp::SeqNum ack, Instant now) {
  const auto entry = flows_.find(id);
  if (entry == flows_.end()) return;
  Flow& flow = entry->second;
  // An ACK beyond the data sent (of the FIN, or invalid) is clamped to it.
  const std::int64_t distance = ack - flow.reference;
  const auto position = static_cast<std::uint64_t>(static_cast<std::int64_t>(flow.position) + distance);
  const std::uint64_t reached = std::min(position, flow.proxy_end);
  if (reached <= flow.acked) return;
  const std::uint64_t fresh = reached - flow.acked;
  flow.acked = reached;
  if (now >= measure_from_) {
    delivered_[id.destination] += fresh;
    interval_.delivered += fresh;
  }
  while (!flow.segments.empty() && flow.segments.front().end <= flow.acked) flow.segments.pop_front();
  if (flow.finished && flow.acked == flow.proxy_end) flows_.erase(entry);
}

void FlightRecorder::finished(const FlowId& id) {
  const auto entry = flows_.find(id);
  if (entry == flows_.end()) return;
  entry->second.finished = true;
  if (entry->second.acked == entry->second.proxy_end) flows_.erase(entry);
}

void FlightRecorder::forget(const FlowId& id) {
  flows_.erase(id);
}

std::uint64_t FlightRecorder::outstanding() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, flow] : flows_) bytes += flow.proxy_end - flow.acked;
  return bytes;
}

std::map<IpAddress, std::uint64_t> FlightRecorder::unacknowledged_arrivals() const {
  std::map<IpAddress, std::uint64_t> arrived;
  for (const auto& [id, flow] : flows_) {
    std::uint64_t& bytes = arrived[id.destination];
    std::uint64_t begin = flow.acked;
    for (const Segment& segment : flow.segments) {
      if (segment.arrived && segment.end > begin) bytes += segment.end - begin;
      begin = std::max(begin, segment.end);
    }
  }
  return arrived;
}

FlightRecorder::Interval FlightRecorder::take_interval() {
  return std::exchange(interval_, Interval{});
}

}  // namespace sluice::emulator

// Connections that pass end to end under a policy that splits: tracked until a moment when they can be.

#include <utility>

#include "proxy/end_to_end/end_to_end_flows.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<Side, 2> sides{Side::radio, Side::core};

/// Where its hosts stand by what has passed, and by what was advertised in their names.
TrackedConnection connection_of(const EndToEndFlow& flow) {
  TrackedConnection connection;
  const SynNote& first = flow.syn_of(flow.initiator);
  const SynNote& second = flow.syn_of(opposite(flow.initiator));
  connection.initiator = flow.initiator;
  connection.handshake.initiator_isn = first.isn;
  connection.handshake.initiator_options = first.options;
  connection.handshake.responder_isn = second.isn;
  connection.handshake.responder_options = second.options;
  connection.handshake.responder_window = second.window;
  for (const Side side : sides) {
    const DataWay& sent = flow.towards(opposite(side));
    const DataWay& received = flow.towards(side);
    TrackedHost& host = connection.host(side);
    host.next = tcp::SeqNum(sent.position.sequence_at(sent.sent));
    host.unseen = host.next;
    host.acked = tcp::SeqNum(received.position.sequence_at(received.acked));
    host.edge = tcp::SeqNum(received.position.sequence_at(received.window.edge()));
  }
  return connection;
}

}  // namespace

bool EndToEndFlows::may_be_split(EndToEndId id, Side in, const tcp::Segment& segment) const {
  const EndToEndFlow& flow = flows_[id];
  return flow.tracked != no_id && flow.fins == 0 && tracked_[flow.tracked].may_be_split(in, segment);
}

void EndToEndFlows::track(EndToEndId id, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
  EndToEndFlow& flow = flows_[id];
  if (flow.phase == EndToEndPhase::syn) return;
  if (flow.tracked == no_id) flow.tracked = tracked_.emplace(connection_of(flow));
  TrackedConnection& connection = tracked_[flow.tracked];
  if (flow.fins != 0) return leave_unsplit(flow);
  const TrackedConnection::Heard heard = connection.track(in, parsed.segment);
  if (heard == TrackedConnection::Heard::the_end) return leave_unsplit(flow);
  if (heard == TrackedConnection::Heard::more) {
    connection.headers.at(static_cast<std::size_t>(opposite(in))) = packet::learn(packet, parsed);
  }
}

void EndToEndFlows::leave_unsplit(EndToEndFlow& flow) {
  flow.to_be_split = false;
  if (flow.tracked != no_id) tracked_.erase(std::exchange(flow.tracked, no_id));
}

TrackedConnection EndToEndFlows::give_up(EndToEndId id, Instant now) {
  EndToEndFlow& flow = flows_[id];
  release(flow, id, control::AckRelease::all(), now);
  TrackedConnection connection = tracked_[flow.tracked];
  // Its hosts' own windows may be wider than what a law let through.
  for (const Side side : sides) {
    const DataWay& received = flow.towards(side);
    connection.host(side).edge = tcp::SeqNum(received.position.sequence_at(received.window.edge()));
  }
  close(id, now);
  return connection;
}

}  // namespace sluice::proxy

#include "proxy/engine/end_to_end/split_candidates.hpp"

#include <utility>

namespace sluice::proxy {
namespace {

/// Returns the state of both hosts of an end-to-end connection, derived from its segments and from the windows
/// advertised to the hosts.
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
  connection.handshake.unfinished = flow.unfinished;
  for (const Side side : both_sides) {
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

bool SplitCandidates::may_be_split(const EndToEndFlow& flow, Side in, const tcp::Segment& segment) const {
  return flow.tracked != no_id && flow.fins == 0 && tracked_[flow.tracked].may_be_split(in, segment);
}

void SplitCandidates::track(EndToEndFlow& flow, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
  if (flow.phase == EndToEndPhase::syn) return;
  if (flow.tracked == no_id) flow.tracked = tracked_.emplace(connection_of(flow));
  TrackedConnection& connection = tracked_[flow.tracked];
  if (flow.fins != 0) return give_up(flow);
  const TrackedConnection::Tracked tracked = connection.track(in, parsed.segment);
  if (tracked == TrackedConnection::Tracked::ends_connection) return give_up(flow);
  if (tracked == TrackedConnection::Tracked::more) {
    connection.headers.at(static_cast<std::size_t>(opposite(in))) = packet::learn(packet, parsed);
  }
}

void SplitCandidates::give_up(EndToEndFlow& flow) {
  flow.to_be_split = false;
  if (flow.tracked != no_id) tracked_.erase(std::exchange(flow.tracked, no_id));
}

TrackedConnection SplitCandidates::where(const EndToEndFlow& flow) const {
  TrackedConnection connection = tracked_[flow.tracked];
  // The edge is what was forwarded, because the hosts' own windows may be wider than the controller allowed.
  for (const Side side : both_sides) {
    const DataWay& received = flow.towards(side);
    connection.host(side).edge = tcp::SeqNum(received.position.sequence_at(received.window.edge()));
  }
  return connection;
}

}  // namespace sluice::proxy

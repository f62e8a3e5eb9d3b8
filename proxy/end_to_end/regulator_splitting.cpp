// Connections that pass end to end under a policy that splits: followed until a moment when they can be.

#include <utility>

#include "proxy/end_to_end/regulator.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<Side, 2> sides{Side::radio, Side::core};

/// Where its hosts stand by what has passed, and by what was promised in their names.
FollowedConnection connection_of(const RegulatedFlow& flow) {
  FollowedConnection connection;
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
    FollowedHost& host = connection.host(side);
    host.next = tcp::SeqNum(sent.position.sequence_at(sent.sent));
    host.unseen = host.next;
    host.acked = tcp::SeqNum(received.position.sequence_at(received.acked));
    host.edge = tcp::SeqNum(received.position.sequence_at(received.window.edge()));
  }
  return connection;
}

}  // namespace

bool Regulator::may_be_split(RegulatedId id, Side in, const tcp::Segment& segment) const {
  const RegulatedFlow& flow = flows_[id];
  return flow.followed != no_id && flow.fins == 0 && followed_[flow.followed].may_be_split(in, segment);
}

void Regulator::follow(RegulatedId id, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
  RegulatedFlow& flow = flows_[id];
  if (flow.phase == RegulatedPhase::syn) return;
  if (flow.followed == no_id) flow.followed = followed_.emplace(connection_of(flow));
  FollowedConnection& connection = followed_[flow.followed];
  if (flow.fins != 0) return leave_unsplit(flow);
  const FollowedConnection::Heard heard = connection.follow(in, parsed.segment);
  if (heard == FollowedConnection::Heard::the_end) return leave_unsplit(flow);
  if (heard == FollowedConnection::Heard::more) {
    connection.headers.at(static_cast<std::size_t>(opposite(in))) = packet::learn(packet, parsed);
  }
}

void Regulator::leave_unsplit(RegulatedFlow& flow) {
  flow.to_be_split = false;
  if (flow.followed != no_id) followed_.erase(std::exchange(flow.followed, no_id));
}

FollowedConnection Regulator::give_up(RegulatedId id, Instant now) {
  RegulatedFlow& flow = flows_[id];
  release(flow, id, control::AckRelease::all(), now);
  FollowedConnection connection = followed_[flow.followed];
  // Its hosts' own windows may be wider than what a law let through.
  for (const Side side : sides) {
    const DataWay& received = flow.towards(side);
    connection.host(side).edge = tcp::SeqNum(received.position.sequence_at(received.window.edge()));
  }
  close(id, now);
  return connection;
}

}  // namespace sluice::proxy

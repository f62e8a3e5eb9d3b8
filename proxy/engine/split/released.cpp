// Table of released connections, which pass between their hosts and can be split again. Handback adds them,
// HandbackRouter tracks their segments. Invariant: data that the proxy has not seen delays the next split, because a
// retransmission of it would look like new data (RFC 6298 section 5.5).
#include "proxy/engine/split/released.hpp"

#include <algorithm>

#include "dataplane/tcp/tick.hpp"
#include "proxy/engine/base/phases.hpp"
#include "proxy/engine/relay/relay.hpp"
#include "proxy/engine/split/handback_point.hpp"

namespace sluice::proxy {
namespace {

/// Returns the maximum number of connections that are tracked after they were handed back to their hosts: a quarter of
/// `max_flows`, but at least 16.
std::uint32_t capacity_for(std::uint32_t max_flows) {
  return std::max<std::uint32_t>(max_flows / 4, 16);
}

/// Assumed maximum time from the transmission of a segment by a host to its first retransmission.
constexpr Duration first_repetition = std::chrono::seconds(10);

/// Returns how long a connection is not split again after its handback to the hosts. `seen` is how often it was handed
/// back because of segments that a split does not support. The time doubles with each such handback.
Duration wait_after(std::uint8_t seen) {
  return seen == 0 ? Duration::zero() : std::chrono::seconds(std::int64_t{1} << (seen - 1));
}

}  // namespace

Released::Released(std::uint32_t max_flows, const flow::HashKey& secret)
    : flows_(capacity_for(max_flows)), table_(capacity_for(max_flows), secret), ages_(capacity_for(max_flows)) {}

std::uint32_t Released::place(const flow::FlowKey& key, std::uint32_t& forgotten) {
  if (const std::uint32_t old = find(key); old != none) forget(old);
  std::uint32_t id = flows_.emplace();
  while (id == flow::Slab<ReleasedFlow>::none) {
    if (forget(ages_.pop())) ++forgotten;
    id = flows_.emplace();
  }
  if (!table_.insert(key, id)) {
    flows_.erase(id);
    return none;
  }
  flows_[id].key = key;
  flows_[id].ticket = ++last_ticket_;
  if (forget(ages_.push(id, last_ticket_))) ++forgotten;
  return id;
}

std::uint32_t Released::add(const RecoveredConnection& connection, const RunGap& gap) {
  std::uint32_t forgotten = 0;
  const std::uint32_t id = place(connection.key, forgotten);
  if (id == none) return forgotten;
  ReleasedFlow& released = flows_[id];
  released.may_split_again = true;
  released.recovered = true;
  gap_begin_ = gap.begin;
  record_data(id, gap.end);
  released.connection.numbers_unknown = true;
  released.connection.initiator = connection.initiator;
  released.connection.headers = connection.headers;
  const auto offer_of = [&](Side side) { return connection.offers.at(static_cast<std::size_t>(side)); };
  released.connection.handshake.initiator_options = offer_of(connection.initiator);
  released.connection.handshake.responder_options = offer_of(opposite(connection.initiator));
  return forgotten;
}

void Released::record_data(std::uint32_t id, Instant now) {
  ReleasedFlow& flow = flows_[id];
  if (flow.recovered)
    flow.not_before = std::max(flow.not_before, now + std::max(first_repetition, 2 * (now - gap_begin_)));
}

std::uint32_t Released::add(const flow::FlowKey& key, const Flow& flow, Instant now) {
  std::uint32_t forgotten = 0;
  const std::uint32_t id = place(key, forgotten);
  if (id == none) return forgotten;
  ReleasedFlow& released = flows_[id];
  TrackedConnection& connection = released.connection;
  connection.handshake = flow.handshake;
  connection.initiator = flow.initiator;
  released.may_split_again =
      flow.release_reason != ReleaseReason::released_command;  // an operator's release is permanent
  released.unsplittable_seen = flow.unsplittable_seen;
  released.reason = flow.release_reason;
  if (flow.release_reason == ReleaseReason::released_unsplittable)
    released.not_before = now + wait_after(flow.unsplittable_seen);
  for (const Side side : both_sides) {
    const tcp::Endpoint& own = flow.leg(side).endpoint;
    connection.headers[static_cast<std::size_t>(side)] = flow.leg(side).headers;
    TrackedHost& host = connection.host(side);
    host.next = own.rcv_nxt();
    host.acked = own.snd_una();
    host.window = static_cast<std::uint32_t>(own.snd_window().count());
    host.edge = tcp::later(relay::granted_edge(flow, side), flow.leg(opposite(side)).endpoint.rcv_adv());
    host.ts_value = own.newest_ts_value();
    host.timed = true;
    host.rtt = tcp::tick::us(own.srtt());
  }
  for (const Side side : both_sides) {
    TrackedHost& host = connection.host(side);
    host.unseen = flow.leg(side).passed_by ? connection.host(opposite(side)).edge : host.next;
  }
  return forgotten;
}

/// Evicts the connection that the FIFO entry `oldest` identifies. Returns false if that connection has ended or was
/// split again, because its table entry may then belong to another connection.
bool Released::forget(const EvictionQueue::Entry& oldest) {
  if (oldest.id == no_id || !flows_.contains(oldest.id) || flows_[oldest.id].ticket != oldest.ticket) return false;
  forget(oldest.id);
  return true;
}

void Released::forget(std::uint32_t id) {
  table_.erase(flows_[id].key);
  flows_.erase(id);
}

void Released::record_unsplittable(const flow::FlowKey& key, Side in, const tcp::Segment& segment, Instant now) {
  const std::uint32_t id = find(key);
  if (id == none) return;
  ReleasedFlow& flow = flows_[id];
  flow.connection.record_unseen(in, segment);
  if (!flow.connection.is_plausible(in, segment)) return;
  flow.unsplittable_seen = std::max<std::uint8_t>(flow.unsplittable_seen, 1);
  flow.not_before = std::max(flow.not_before, now + wait_after(flow.unsplittable_seen));
}

void Released::describe(std::vector<FlowInfo>& out, std::size_t limit) {
  flows_.for_each([&](std::uint32_t, const ReleasedFlow& flow) {
    if (out.size() >= limit) return;
    FlowInfo info;
    info.ue = flow.key.ue;
    info.server = flow.key.server;
    info.ue_port = flow.key.ue_port;
    info.server_port = flow.key.server_port;
    info.phase = to_string(Phase::released);
    info.reason = to_string(flow.reason).data();
    out.push_back(info);
  });
}

bool Released::allow_split_again(const std::optional<IpAddress>& ue) {
  bool found = false;
  flows_.for_each([&](std::uint32_t, ReleasedFlow& flow) {
    if (ue && flow.key.ue != *ue) return;
    found = flow.may_split_again = true;
    flow.not_before = {};
  });
  return found;
}

bool Released::has(const IpAddress& ue) {
  bool found = false;
  flows_.for_each([&](std::uint32_t, const ReleasedFlow& flow) { found = found || flow.key.ue == ue; });
  return found;
}

}  // namespace sluice::proxy

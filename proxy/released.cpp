#include "proxy/released.hpp"

#include <algorithm>

#include "dataplane/tcp/tick.hpp"
#include "proxy/handover.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<Side, 2> sides{Side::radio, Side::core};

/// As many as a quarter of the flows.
std::uint32_t capacity_for(std::uint32_t max_flows) {
  return std::max<std::uint32_t>(max_flows / 4, 16);
}

const tcp::SynOptions& options_of(const ReleasedFlow& flow, Side side) {
  return side == flow.initiator ? flow.handshake.initiator_options : flow.handshake.responder_options;
}

/// The window of a segment from that host, in bytes (RFC 7323 section 2.2).
std::uint32_t window_of(const ReleasedFlow& flow, Side side, const tcp::Segment& segment) {
  const tcp::SynOptions& own = options_of(flow, side);
  const bool scaling = own.has_window_scale && options_of(flow, opposite(side)).has_window_scale;
  return std::uint32_t{segment.window} << (scaling ? std::min<unsigned>(own.window_scale, 14) : 0U);
}

/// An operator, or something that cannot be split, has sent it away: it does not come back by itself.
bool comes_back(LetGo reason) {
  return reason != LetGo::let_go_command && reason != LetGo::let_go_surprise;
}

}  // namespace

Released::Released(std::uint32_t max_flows, std::uint64_t seed)
    : flows_(capacity_for(max_flows)), table_(capacity_for(max_flows), seed), ages_(capacity_for(max_flows)) {}

void Released::add(const Flow& flow) {
  if (const std::uint32_t old = find(flow.key); old != none) forget(old);
  std::uint32_t id = flows_.emplace();
  while (id == flow::Slab<ReleasedFlow>::none) {
    const AgeRing::Entry oldest = ages_.pop();
    if (flows_.contains(oldest.id) && flows_[oldest.id].ticket == oldest.ticket) forget(oldest.id);
    id = flows_.emplace();
  }
  if (!table_.insert(flow.key, id)) {
    flows_.erase(id);
    return;
  }
  ReleasedFlow& released = flows_[id];
  released.key = flow.key;
  released.handshake = flow.handshake;
  released.initiator = flow.initiator;
  released.wanted = comes_back(flow.let_go);
  released.ticket = ++last_ticket_;
  for (const Side side : sides) {
    const tcp::Endpoint& own = flow.leg(side).endpoint;
    released.headers[static_cast<std::size_t>(side)] = flow.leg(side).headers;
    FollowedHost& host = released.host(side);
    host.next = own.rcv_nxt();
    host.acked = own.snd_una();
    host.window = static_cast<std::uint32_t>(own.snd_window().count());
    host.edge = tcp::later(handover::granted_edge(flow, side), flow.leg(opposite(side)).endpoint.rcv_edge());
    host.ts_value = own.newest_ts_value();
    host.rtt = tcp::tick::micro(own.srtt());
  }
  const AgeRing::Entry displaced = ages_.push(id, released.ticket);
  if (displaced.id != no_id && flows_.contains(displaced.id) && flows_[displaced.id].ticket == displaced.ticket) {
    forget(displaced.id);
  }
}

void Released::forget(std::uint32_t id) {
  table_.erase(flows_[id].key);
  flows_.erase(id);
}

void Released::want(const std::optional<IpAddress>& ue) {
  flows_.for_each([&](std::uint32_t, ReleasedFlow& flow) {
    if (!ue || flow.key.ue == *ue) flow.wanted = true;
  });
}

bool Released::follow(std::uint32_t id, Side in, const tcp::Segment& segment) {
  ReleasedFlow& flow = flows_[id];
  if (segment.flags.rst() || segment.flags.fin()) return false;
  if (segment.flags.syn() || !segment.flags.ack()) return true;
  FollowedHost& from = flow.host(in);
  FollowedHost& to = flow.host(opposite(in));
  if (segment.seq > to.edge || segment.ack < from.acked) return true;  // forged, or overtaken by others
  const std::uint32_t window = window_of(flow, in, segment);
  from.next = tcp::later(from.next, segment.seq + segment.payload_len);
  from.acked = segment.ack;
  from.window = window;
  from.edge = tcp::later(from.edge, segment.ack + window);
  // What is acknowledged was sent, by whatever way it passed.
  to.next = tcp::later(to.next, segment.ack);
  if (static_cast<std::int32_t>(segment.ts_value - from.ts_value) > 0) from.ts_value = segment.ts_value;
  from.heard = true;
  constexpr std::uint8_t news = tcp::Flags::urg_bit | tcp::Flags::ece_bit | tcp::Flags::cwr_bit;
  from.unsettled = (segment.flags.bits & news) != 0;
  return true;
}

bool Released::may_return(std::uint32_t id, Side in, const tcp::Segment& segment) const {
  const ReleasedFlow& flow = flows_[id];
  const FollowedHost& from = flow.host(in);
  const FollowedHost& to = flow.host(opposite(in));
  if (!flow.wanted || !from.heard || !to.heard || from.unsettled || to.unsettled) return false;
  if ((segment.flags.bits & ~tcp::Flags::psh_bit) != tcp::Flags::ack_bit || segment.sack_count != 0) return false;
  const bool timestamps = flow.handshake.initiator_options.timestamps && flow.handshake.responder_options.timestamps;
  if (timestamps != segment.has_timestamps) return false;
  if (timestamps && static_cast<std::int32_t>(segment.ts_value - from.ts_value) < 0) return false;
  const bool continues = segment.payload_len != 0 && segment.seq == from.next && to.acked == from.next &&
                         segment.ack == to.next && from.acked <= to.next;
  return continues && segment.seq + segment.payload_len <= to.edge;
}

void Released::restore(std::uint32_t id, Side in, const tcp::Segment& segment, Flow& flow,
                       const handshake::LegConfigs& configs, Instant now) const {
  const ReleasedFlow& released = flows_[id];
  const auto leg_to = [&](Side side) {
    const FollowedHost& peer = released.host(side);
    const FollowedHost& local = released.host(opposite(side));
    const bool speaks = side == in;
    tcp::Takeover leg;
    leg.snd_nxt = local.next;
    leg.rcv_nxt = peer.next;
    leg.local = options_of(released, opposite(side));
    leg.remote = options_of(released, side);
    leg.snd_window = speaks ? window_of(released, side, segment) : peer.window;
    leg.rcv_edge =
        speaks ? local.edge : tcp::later(local.edge, segment.ack + window_of(released, opposite(side), segment));
    leg.ts_recent = peer.ts_value;
    leg.rtt = peer.rtt == 0 ? Duration::zero() : tcp::tick::micro_duration(peer.rtt);
    return leg;
  };
  flow.handshake = released.handshake;
  flow.initiator = released.initiator;
  for (const Side side : sides) flow.leg(side).headers = released.headers[static_cast<std::size_t>(side)];
  handshake::split(flow, {leg_to(flow.initiator), leg_to(opposite(flow.initiator))}, configs, now);
}

}  // namespace sluice::proxy

#include "proxy/split/relay_memory.hpp"

#include <algorithm>

#include "proxy/split/relay.hpp"

namespace sluice::proxy {
namespace {

/// What a connection is granted without having shown that it needs it, while the budget has room for that.
constexpr Bytes most_unasked{1024 * 1024};

/// What one direction holds and has advertised.
Bytes committed(const Flow& flow, Side in) {
  return relay::held_towards(flow, opposite(in)) + flow.leg(in).endpoint.advertised();
}

}  // namespace

bool RelayMemory::look(Instant now) {
  if (!budget_.look(now)) return false;
  const Bytes most = std::min(most_unasked, config_.limits.relay_buffer);
  unasked_ = std::clamp(budget_.most_unasked(Bytes{}), relay::least_window, most);
  refuses_flows_ = budget_.used() > config_.limits.refuse_flows_at;
  return true;
}

Bytes RelayMemory::limit(Flow& flow, const Bearer& bearer, Side in, Instant now) {
  const Bytes own = committed(flow, in);
  const Bytes needed = need(flow, in, now);
  const Bytes plenty = std::min({most_unasked, config_.limits.relay_buffer, budget_.most_unasked(own)});
  const Bytes of_ue = budget_.most_of_ue(bearer.load.committed, own);
  return std::max(std::min(std::max(needed, plenty), of_ue), relay::least_window);
}

/// A first window besides, while the budget has room for what nobody has shown to need: hosts send in bursts.
Bytes RelayMemory::need(Flow& flow, Side in, Instant now) {
  const Bytes own = committed(flow, in);
  const Bytes burst = std::min(Demand::first, budget_.most_unasked(own));
  return std::min({std::max(need_of(flow, in, now), burst), config_.limits.relay_buffer, budget_.most(own)});
}

Bytes RelayMemory::first_limit(const Bearer& bearer) const {
  return std::clamp(budget_.most_of_ue(bearer.load.committed, Bytes{}), relay::least_window, unasked_);
}

/// What the path needs, once the direction carries more than a first window.
Bytes RelayMemory::need_of(Flow& flow, Side in, Instant now) {
  const Leg& to = flow.leg(opposite(in));
  const tcp::SeqNum delivered = to.endpoint.snd_una();
  if (flow.demands == no_id) {
    if (flow.sent_from(in, delivered) < Demand::first) return Demand::first;
    flow.demands = demands_.emplace();
    if (flow.demands == no_id) return Demand::first;  // cannot be: there is a place for every flow
    for (const Side out : {Side::radio, Side::core}) {
      demands_[flow.demands][static_cast<std::size_t>(out)] = Demand(flow.leg(out).endpoint.snd_una(), now);
    }
  }
  Demand& demand = demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  demand.follow(delivered, flow.leg(in).endpoint.srtt() + to.endpoint.least_rtt(), now);
  return demand.bytes();
}

std::uint32_t RelayMemory::note(Flow& flow, Streams pending) {
  Bytes all;
  for (const Side in : {Side::radio, Side::core}) {
    Leg& leg = flow.leg(in);
    const Bytes advertised = leg.endpoint.advertised();
    // What was advertised to a host that sends nothing is not counted for long.
    if (leg.heard && contains(pending, stream_to(opposite(in)))) {
      budget_.commit(leg.commitment, static_cast<std::uint32_t>(advertised.count()));
    }
    all += advertised + relay::held_towards(flow, opposite(in));
  }
  return static_cast<std::uint32_t>(all.count());
}

void RelayMemory::forget(Flow& flow) {
  for (Leg& leg : flow.legs) budget_.forget(leg.commitment);
  if (flow.demands != no_id) demands_.erase(flow.demands);
  flow.demands = no_id;
}

bool RelayMemory::keeps_though_tight(const Flow& flow, Side in, const tcp::Segment& segment) const {
  if (segment.seq > flow.leg(in).endpoint.rcv_nxt()) return false;
  if (!budget_.exhausted()) return true;
  return !budget_.reserve_touched() && relay::held_towards(flow, opposite(in)) < relay::least_window;
}

}  // namespace sluice::proxy

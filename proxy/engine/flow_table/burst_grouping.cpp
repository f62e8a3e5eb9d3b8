// Groups the packets of a burst by flow. The classifier calls it for a burst in which segments of several flows are
// interleaved. Invariant: packets of one connection keep their order, and no segment is moved over a packet that is
// neither TCP nor a datagram.
#include "proxy/engine/flow_table/burst_grouping.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace sluice::proxy {
namespace {

/// Indices of the packets of a burst in the order in which they are to be processed.
using Order = std::array<std::uint8_t, ParsedBurst::most>;

bool is_segment(packet::ParseResult result) {
  return result == packet::ParseResult::tcp || result == packet::ParseResult::tcp_options_unknown;
}

/// Moves the packets and their parse results so that the element with index `order[i]` gets index i. Each element is
/// copied once. Overwrites `order`.
void arrange(std::span<packet::Packet> burst, ParsedBurst& known, Order& order) {
  for (std::uint8_t begin = 0; begin < burst.size(); ++begin) {
    if (order[begin] == begin) continue;
    packet::Packet packet = std::move(burst[begin]);
    const packet::Parsed parsed = known.parsed[begin];
    const packet::ParseResult result = known.results[begin];
    std::uint8_t at = begin;
    for (std::uint8_t from = order[at]; from != begin; from = order[at]) {
      burst[at] = std::move(burst[from]);
      known.parsed[at] = known.parsed[from];
      known.results[at] = known.results[from];
      order[at] = at;
      at = from;
    }
    burst[at] = std::move(packet);
    known.parsed[at] = parsed;
    known.results[at] = result;
    order[at] = at;
  }
}

}  // namespace

void BurstGrouping::group(std::span<packet::Packet> burst, ParsedBurst& known, const ConnectionTable& connections,
                          CrossTrafficHandling cross_traffic) {
  assert(burst.size() <= ParsedBurst::most);
  std::array<ConnectionId, ParsedBurst::most> ids;
  std::array<std::uint8_t, ParsedBurst::most> places;    // index of each group's key
  std::array<std::uint32_t, ParsedBurst::most> members;  // bit per packet of each group
  std::size_t groups = 0;
  std::size_t open = 0;  // first group to which a segment may still be added
  for (std::size_t i = 0; i < burst.size(); ++i) {
    const ConnectionId id = known.id(i);
    const bool segment = is_segment(known.results[i]);
    std::size_t group = groups;
    if (segment && connections.is_flow(id)) {
      std::uint8_t& last = last_[id % slots];
      if (last >= open && last < groups && ids[last] == id) group = last;
      last = static_cast<std::uint8_t>(group);
    }
    if (group == groups) {
      ids[group] = segment ? id : flow::no_flow;
      places[group] = known.places[i];
      members[group] = 0;
      ++groups;
    }
    members[group] |= 1U << i;
    const bool is_cross_traffic = segment ? !connections.is_flow(id) : known.results[i] == packet::ParseResult::udp;
    if (is_cross_traffic ? cross_traffic == CrossTrafficHandling::limited : !segment) open = groups;
  }
  Order order;
  std::size_t count = 0;
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::uint32_t left = members[group]; left != 0; left &= left - 1) {
      order[count] = static_cast<std::uint8_t>(std::countr_zero(left));
      known.places[count++] = places[group];
    }
  }
  arrange(burst, known, order);
}

}  // namespace sluice::proxy

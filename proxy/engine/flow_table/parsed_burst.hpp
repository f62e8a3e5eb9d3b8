#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/key_burst.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Results of parsing and lookup for a burst of packets that arrived on one side. Consecutive packets of one connection
/// share one lookup.
struct ParsedBurst {
  static constexpr std::size_t most = flow::KeyBurst::most;

  std::array<packet::Parsed, most> parsed;
  std::array<packet::ParseResult, most> results;
  std::array<std::uint8_t, most> places;  ///< for each packet: index of its connection key in the list of distinct keys
  flow::KeyBurst keys;
  std::array<ConnectionId, most> ids;    ///< connection id of each distinct connection key in the burst
  std::array<std::uint32_t, most> tags;  ///< keyed hash (flow::KeyTag) of each distinct connection key in the burst

  /// Returns the id of the connection to which the packet at index `at` belongs.
  [[nodiscard]] ConnectionId id(std::size_t at) const { return ids[places[at]]; }
  /// Returns the keyed hash of the connection key of the packet at index `at`.
  [[nodiscard]] flow::KeyTag tag(std::size_t at) const { return flow::KeyTag{tags[places[at]]}; }
  /// True if the packet at index `at` is a TCP segment without unknown options.
  [[nodiscard]] bool is_tcp(std::size_t at) const { return results[at] == packet::ParseResult::tcp; }
  /// True if the packet after index `at` is of the same connection. `count` is the number of packets in the burst.
  [[nodiscard]] bool is_followed(std::size_t at, std::size_t count) const {
    return at + 1 < count && places[at + 1] == places[at];
  }
  /// Returns the number of segments from index `first` on that can be merged by GRO: contiguous segments of one
  /// connection (packet::is_contiguous()). `count` is the number of packets in the burst.
  [[nodiscard]] std::size_t gro_run(std::size_t first, std::size_t count) const {
    std::size_t end = first + 1;
    while (end < count && places[end] == places[first] && is_tcp(end) &&
           packet::is_contiguous(parsed[end - 1], parsed[end]))
      ++end;
    return end - first;
  }
};

}  // namespace sluice::proxy

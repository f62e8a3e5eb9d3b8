#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/key_burst.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/flows/registry.hpp"

namespace sluice::proxy {

/// What is known of the packets of a burst that came in on one side: what each is, and whose. Those of a connection
/// that follow each other share a key.
struct ParsedBurst {
  static constexpr std::size_t most = flow::KeyBurst::most;

  std::array<packet::Parsed, most> parsed;
  std::array<packet::ParseResult, most> results;
  std::array<std::uint8_t, most> places;  ///< of their keys
  flow::KeyBurst keys;
  std::array<ConnectionId, most> ids;    ///< of the keys
  std::array<std::uint32_t, most> tags;  ///< of the keys

  [[nodiscard]] ConnectionId id(std::size_t at) const { return ids[places[at]]; }
  [[nodiscard]] flow::KeyTag tag(std::size_t at) const { return flow::KeyTag{tags[places[at]]}; }
  /// A segment of a connection that is known, without options that are not.
  [[nodiscard]] bool is_tcp(std::size_t at) const { return results[at] == packet::ParseResult::tcp; }
  /// How many segments, of `count` packets in all, are of the train that begins with the segment at `first`: it and
  /// those that follow each other behind it (packet::follows()).
  [[nodiscard]] std::size_t train(std::size_t first, std::size_t count) const {
    std::size_t end = first + 1;
    while (end < count && places[end] == places[first] && is_tcp(end) && packet::follows(parsed[end - 1], parsed[end]))
      ++end;
    return end - first;
  }
};

}  // namespace sluice::proxy

#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/flows/age_ring.hpp"

namespace sluice::proxy {

/// The handshakes of one kind of connection, by age. Those that are under way may have a quarter of the places that
/// connections have (16 at least), so a flood of SYNs displaces itself. All memory at construction.
class HalfOpen {
 public:
  explicit HalfOpen(std::uint32_t max_flows) : ages_(std::max<std::uint32_t>(max_flows / 4, 16)) {}

  /// A handshake begins. `open()` gives it a place and returns its id, or no_id where a table is full: then the oldest
  /// make room. `displace(entry)` forgets that one, if it is the same handshake still and has not come to its end.
  /// Returns its id, no_id where tables are full of connections, and the ticket it goes by.
  template <typename Open, typename Displace>
  AgeRing::Entry begin(Open&& open, Displace&& displace) {
    constexpr int attempts = 4;  // entries of handshakes that are complete by now make no room
    AgeRing::Entry newest{open(), 0};
    for (int i = 0; i < attempts && newest.id == no_id; ++i) {
      displace(ages_.pop());
      newest.id = open();
    }
    if (newest.id == no_id) return newest;
    newest.ticket = ++last_ticket_;
    displace(ages_.push(newest.id, newest.ticket));
    return newest;
  }

 private:
  AgeRing ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy

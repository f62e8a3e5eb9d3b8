#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/engine/flow/eviction_queue.hpp"

namespace sluice::proxy {

/// Limits the handshakes in progress to a quarter of the maximum number of connections, but at least 16. Beyond that, a
/// new handshake displaces the oldest one. A SYN flood therefore displaces only other handshakes. All memory is
/// allocated at construction.
class HalfOpen {
 public:
  /// Sets the limit to a quarter of `max_flows` handshakes, but at least 16.
  explicit HalfOpen(std::uint32_t max_flows) : ages_(std::max<std::uint32_t>(max_flows / 4, 16)) {}

  /// Starts a handshake. `open()` allocates a flow and returns its id, or no_id if a table is full. In that case up to
  /// four of the oldest handshakes are displaced to make room. `displace(entry)` removes a handshake, unless it is
  /// complete or its id was reused. Returns the id and the serial number of the flow. The id is no_id if there is still
  /// no room.
  template <typename Open, typename Displace>
  EvictionQueue::Entry begin(Open&& open, Displace&& displace) {
    constexpr int attempts = 4;  // entries of completed handshakes free no place
    EvictionQueue::Entry newest{open(), 0};
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
  EvictionQueue ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy

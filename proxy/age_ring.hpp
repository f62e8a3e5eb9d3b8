#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proxy/flow.hpp"

namespace sluice::proxy {

/// The tracked handshakes in the order they began, so that the oldest one makes room when there are too many: a flood
/// of SYNs costs a fixed part of the flow table and no connection its place. Memory is taken at construction. Entries
/// of handshakes that have ended meanwhile stay until their turn comes.
class HalfOpen {
 public:
  /// One of a quarter of the flows, at least 16.
  explicit HalfOpen(std::uint32_t max_flows) : entries_(std::max<std::uint32_t>(max_flows / 4, 16)) {}

  struct Entry {
    FlowId id = no_id;
    std::uint32_t ticket = 0;  ///< the flow's, as long as it is the one that was entered
  };

  /// Enters a handshake. Returns the one that has to go for it: its id is no_id where there was room.
  Entry push(FlowId id, std::uint32_t ticket) {
    const Entry oldest = size_ == entries_.size() ? pop() : Entry{};
    entries_[(first_ + size_) % entries_.size()] = {id, ticket};
    ++size_;
    return oldest;
  }
  /// Takes the oldest one out; its id is no_id when there is none.
  Entry pop() {
    if (size_ == 0) return {};
    const Entry oldest = entries_[first_];
    first_ = (first_ + 1) % entries_.size();
    --size_;
    return oldest;
  }
  [[nodiscard]] std::size_t capacity() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sluice::proxy

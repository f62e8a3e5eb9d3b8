#pragma once

#include <cstdint>
#include <vector>

#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// FIFO of evictable objects in the order of their creation. If it is full, a new object evicts the oldest one. So a
/// SYN flood occupies a fixed part of the flow table and evicts no established connection. Memory is allocated at
/// construction. The entry of an object that has ended stays until it is the oldest.
class EvictionQueue {
 public:
  /// Allocates `capacity` entries, at least one.
  explicit EvictionQueue(std::uint32_t capacity) : entries_(capacity) {}

  /// Entry of one evictable object in the FIFO.
  struct Entry {
    std::uint32_t id = no_id;
    std::uint32_t ticket = 0;  ///< serial number of the object, which shows whether its id was reused
  };

  /// Adds an object to the FIFO. If the FIFO was full, returns its oldest entry, whose object must then be evicted;
  /// else the returned id is no_id.
  Entry push(std::uint32_t id, std::uint32_t ticket) {
    const Entry oldest = size_ == entries_.size() ? pop() : Entry{};
    entries_[wrapped(first_ + size_)] = {id, ticket};
    ++size_;
    return oldest;
  }
  /// Removes the oldest entry from the FIFO and returns it; its id is no_id if the FIFO is empty.
  Entry pop() {
    if (size_ == 0) return {};
    const Entry oldest = entries_[first_];
    first_ = wrapped(first_ + 1);
    --size_;
    return oldest;
  }
  [[nodiscard]] std::size_t capacity() const { return entries_.size(); }

 private:
  /// Returns the array index of `place`: `place` modulo the capacity. Requires `place` < 2 × capacity.
  [[nodiscard]] std::size_t wrapped(std::size_t place) const {
    return place < entries_.size() ? place : place - entries_.size();
  }

  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sluice::proxy

#pragma once

#include <cstdint>
#include <vector>

#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// FIFO of objects in the order of their creation, to evict the oldest. If the FIFO is full, a new object evicts the
/// oldest one. A SYN flood, for example, therefore occupies a limited part of the flow table, and evicts no established
/// connection. Memory is allocated at construction. The entry of an object that has ended remains in the FIFO until it
/// is the oldest.
class EvictionQueue {
 public:
  /// Allocates `capacity` entries, at least one.
  explicit EvictionQueue(std::uint32_t capacity) : entries_(capacity) {}

  /// Entry of one object in the FIFO.
  struct Entry {
    std::uint32_t id = no_id;
    /// serial number of the object; if the object with this id now has another number, the id was reused
    std::uint32_t ticket = 0;
  };

  /// Adds the object with this id to the FIFO. `ticket` is its serial number, which shows later whether the id was
  /// reused. If the FIFO was full, returns its oldest entry, and the caller must evict that object. Otherwise the id of
  /// the returned entry is no_id.
  Entry push(std::uint32_t id, std::uint32_t ticket) {
    const Entry oldest = size_ == entries_.size() ? pop() : Entry{};
    entries_[wrapped(first_ + size_)] = {id, ticket};
    ++size_;
    return oldest;
  }
  /// Removes and returns the oldest entry. Its id is no_id if the FIFO is empty.
  Entry pop() {
    if (size_ == 0) return {};
    const Entry oldest = entries_[first_];
    first_ = wrapped(first_ + 1);
    --size_;
    return oldest;
  }
  [[nodiscard]] std::size_t capacity() const { return entries_.size(); }

 private:
  /// Returns `place` modulo the capacity, the array index of that place. Requires `place` < 2 × capacity.
  [[nodiscard]] std::size_t wrapped(std::size_t place) const {
    return place < entries_.size() ? place : place - entries_.size();
  }

  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sluice::proxy

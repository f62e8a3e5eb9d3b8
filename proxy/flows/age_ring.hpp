#pragma once

#include <cstdint>
#include <vector>

#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

/// Things that may be forgotten, in the order they began, so that the oldest one makes room when there are too many: a
/// flood of SYNs costs a fixed part of the flow table and no connection its place. Memory is taken at construction.
/// Entries of things that have ended meanwhile stay until their turn comes.
class AgeRing {
 public:
  /// At least one.
  explicit AgeRing(std::uint32_t capacity) : entries_(capacity) {}

  struct Entry {
    std::uint32_t id = no_id;
    std::uint32_t ticket = 0;  ///< the thing's, as long as it is the one that was entered
  };

  /// Enters one. Returns the one that has to go for it: its id is no_id where there was room.
  Entry push(std::uint32_t id, std::uint32_t ticket) {
    const Entry oldest = size_ == entries_.size() ? pop() : Entry{};
    entries_[wrapped(first_ + size_)] = {id, ticket};
    ++size_;
    return oldest;
  }
  /// Takes the oldest one out; its id is no_id when there is none.
  Entry pop() {
    if (size_ == 0) return {};
    const Entry oldest = entries_[first_];
    first_ = wrapped(first_ + 1);
    --size_;
    return oldest;
  }
  [[nodiscard]] std::size_t capacity() const { return entries_.size(); }

 private:
  /// Of a place that is not further than once around.
  [[nodiscard]] std::size_t wrapped(std::size_t place) const {
    return place < entries_.size() ? place : place - entries_.size();
  }

  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sluice::proxy

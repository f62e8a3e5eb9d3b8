#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"

namespace sluice::flow {

/// Set of ids. Insertion and removal are O(1). drain() takes one step per member plus one step per 4096 ids. The set
/// uses one bit per id, and one bit per word of 64 ids. Thread: one.
class IdSet {
 public:
  /// Creates an empty set for the ids 0 to capacity-1. Throws std::bad_alloc if the address space cannot be reserved.
  explicit IdSet(std::uint32_t capacity)
      : words_(capacity / word_bits + 1), summary_(capacity / (word_bits * word_bits) + 1) {}

  void insert(std::uint32_t id) noexcept {
    const std::uint32_t word = id / word_bits;
    words_[word] |= bit(id);
    summary_[word / word_bits] |= bit(word);
  }
  void erase(std::uint32_t id) noexcept { words_[id / word_bits] &= ~bit(id); }
  [[nodiscard]] bool contains(std::uint32_t id) const noexcept { return (words_[id / word_bits] & bit(id)) != 0; }

  /// Removes every id and calls visit(id), in ascending order. An id that visit() erases is not visited. visit() must
  /// not insert.
  template <typename Visit>
  void drain(Visit&& visit) {
    for (std::uint32_t part = 0; part < summary_.size(); ++part) {
      for (std::uint64_t& some = summary_[part]; some != 0; some &= some - 1) {
        const std::uint32_t word = part * word_bits + first(some);
        while (words_[word] != 0) {
          const std::uint32_t id = word * word_bits + first(words_[word]);
          erase(id);
          visit(id);
        }
      }
    }
  }

 private:
  static constexpr std::uint32_t word_bits = 64;
  static std::uint64_t bit(std::uint32_t number) noexcept { return std::uint64_t{1} << (number % word_bits); }
  static std::uint32_t first(std::uint64_t bits) noexcept { return static_cast<std::uint32_t>(std::countr_zero(bits)); }

  LazyArray<std::uint64_t> words_;
  /// One bit per word of `words_`, set if the word is not zero. A bit may remain set after its word has become zero.
  LazyArray<std::uint64_t> summary_;
};

}  // namespace sluice::flow

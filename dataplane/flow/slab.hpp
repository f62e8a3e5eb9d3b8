#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "dataplane/flow/lazy_array.hpp"

namespace sluice::flow {

/// Pool of a fixed number of objects, which are created and destroyed in O(1), never moved, and identified by a small
/// index. Each object starts at a multiple of half a cache line. Address space is reserved at construction, and memory
/// is used as objects are first created; freed places are reused first. Thread: one.
template <typename T>
class Slab {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  /// Creates an empty slab. Throws std::bad_alloc if the address space cannot be reserved. Requires capacity < 2^32 -
  /// 1.
  explicit Slab(std::uint32_t capacity) : capacity_(capacity), places_(capacity), live_((capacity + 63U) / 64U) {}
  ~Slab() {
    for_each([this](std::uint32_t index, T&) { erase(index); });
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  /// Creates an object; returns its index, or `none` if the slab is full.
  template <typename... Arguments>
  [[nodiscard]] std::uint32_t emplace(Arguments&&... arguments) {
    const std::uint32_t index = free_ != none ? free_ : untouched_;
    if (index == capacity_) return none;
    const std::uint32_t next_free = free_ != none ? next_of(index) : none;
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
      new (places_[index].bytes) T(std::forward<Arguments>(arguments)...);
    } else {
      try {
        new (places_[index].bytes) T(std::forward<Arguments>(arguments)...);
      } catch (...) {
        if (free_ != none) new (places_[index].bytes) std::uint32_t(next_free);  // restores the free list
        throw;
      }
    }
    free_ = next_free;
    if (index == untouched_) ++untouched_;
    live_[index / 64] |= std::uint64_t{1} << (index % 64);
    ++size_;
    return index;
  }
  /// Destroys an object. Requires contains(index).
  void erase(std::uint32_t index) noexcept {
    assert(contains(index));
    (*this)[index].~T();
    live_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    new (places_[index].bytes) std::uint32_t(free_);
    free_ = index;
    --size_;
  }

  [[nodiscard]] T& operator[](std::uint32_t index) noexcept {
    return *std::launder(reinterpret_cast<T*>(places_[index].bytes));
  }
  [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
    return *std::launder(reinterpret_cast<const T*>(places_[index].bytes));
  }
  /// Returns the index of an object of this slab.
  [[nodiscard]] std::uint32_t index_of(const T& object) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(&object) - reinterpret_cast<std::uintptr_t>(places_.data());
    return static_cast<std::uint32_t>(offset / sizeof(Place));
  }
  [[nodiscard]] bool contains(std::uint32_t index) const noexcept {
    return index < untouched_ && (live_[index / 64] >> (index % 64) & 1U) != 0;
  }
  /// Prefetches an object's first cache line.
  void prefetch(std::uint32_t index) const noexcept { __builtin_prefetch(places_.data() + index); }

  /// Calls visit(index, object) for every object in ascending order of index; visit may erase that object.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (std::uint32_t word = 0; word * 64 < untouched_; ++word) {
      for (std::uint64_t bits = live_[word]; bits != 0; bits &= bits - 1) {
        const auto index = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        visit(index, (*this)[index]);
      }
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Returns the number of places that were ever used. All objects have indices below it.
  [[nodiscard]] std::uint32_t high_watermark() const noexcept { return untouched_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// Returns the bytes of memory that one object takes, including padding.
  [[nodiscard]] static constexpr std::size_t stride() noexcept { return sizeof(Place); }

 private:
  /// Alignment of an object in bytes: half a cache line. Alignment to whole cache lines would waste up to 63 bytes per
  /// object.
  static constexpr std::size_t alignment = alignof(T) > 32 ? alignof(T) : 32;
  struct alignas(alignment) Place {
    std::byte bytes[sizeof(T) > sizeof(std::uint32_t) ? sizeof(T) : sizeof(std::uint32_t)];
  };

  [[nodiscard]] std::uint32_t next_of(std::uint32_t index) const noexcept {
    return *std::launder(reinterpret_cast<const std::uint32_t*>(places_[index].bytes));
  }

  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
  std::uint32_t untouched_ = 0;  ///< index of the first place that was never used
  std::uint32_t free_ = none;    ///< index of the first free place; each free place stores the index of the next
  LazyArray<Place> places_;
  LazyArray<std::uint64_t> live_;
};

}  // namespace sluice::flow

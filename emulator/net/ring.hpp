#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::emulator {

/// A FIFO queue in contiguous memory that grows by doubling and never shrinks.
template <typename T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& front() { return slots_[first_]; }
  [[nodiscard]] const T& front() const { return slots_[first_]; }
  [[nodiscard]] T& back() { return slots_[index(size_ - 1)]; }

  void push(T&& value) {
    if (size_ == slots_.size()) grow();
    slots_[index(size_)] = std::move(value);
    ++size_;
  }
  /// Takes out the oldest element. Requires !empty().
  T pop() {
    T value = std::move(slots_[first_]);
    first_ = index(1);
    --size_;
    return value;
  }
  /// Takes out the newest element. Requires !empty().
  T pop_back() {
    --size_;
    return std::move(slots_[index(size_)]);
  }

 private:
  /// Returns the index of the slot that contains the element `offset` places after the oldest one.
  [[nodiscard]] std::size_t index(std::size_t offset) const { return (first_ + offset) & (slots_.size() - 1); }
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[index(i)]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;   ///< slots of the ring; their number is a power of two
  std::size_t first_ = 0;  ///< index of the slot with the oldest element
  std::size_t size_ = 0;
};

}  // namespace sluice::emulator

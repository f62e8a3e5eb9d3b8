#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::proxy {

/// Passes the newest value of one writer thread to one reader thread. Neither thread waits; a value that the reader
/// does not fetch in time is replaced by the next one. The slots are reused, so publishing a T that keeps its capacity
/// allocates nothing.
template <typename T>
class TripleBuffer {
 public:
  /// Called by the writer. Returns the slot to fill, which holds an older value.
  [[nodiscard]] T& back() noexcept { return slots_[back_]; }
  /// Called by the writer. Makes the value in back() the newest one. Afterwards back() is another slot.
  void publish() noexcept {
    back_ = middle_.exchange(static_cast<std::uint8_t>(back_ | fresh), std::memory_order_acq_rel) & index;
  }

  /// Called by the reader. Takes the newest value. Returns false if front() already is the newest.
  bool fetch() noexcept {
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & index;
    return true;
  }
  /// Called by the reader. Returns the value of the last fetch(), or a default-constructed T before the first.
  [[nodiscard]] const T& front() const noexcept { return slots_[front_]; }

  /// Calls `function` for every slot. May be called only before the threads start.
  template <typename Function>
  void for_each_slot(Function function) {
    for (T& slot : slots_) function(slot);
  }

 private:
  static constexpr std::uint8_t index = 3;
  static constexpr std::uint8_t fresh = 4;

  std::array<T, 3> slots_{};
  alignas(64) std::uint8_t back_ = 0;                 // accessed by the writer only
  alignas(64) std::atomic<std::uint8_t> middle_ = 1;  // slot that neither thread accesses, and whether it is fresh
  alignas(64) std::uint8_t front_ = 2;                // accessed by the reader only
};

}  // namespace sluice::proxy

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::proxy {

/// Passes the newest value from one writer thread to one reader thread. Neither thread waits. If the reader does not
/// fetch a value in time, the next value replaces it. Slots are reused, so that publishing allocates nothing if T keeps
/// its capacity.
template <typename T>
class TripleBuffer {
 public:
  /// Called by the writer. Returns the slot that the writer fills next. The slot still contains an old value.
  [[nodiscard]] T& back() noexcept { return slots_[back_]; }
  /// Called by the writer. Publishes the value in back() as the newest one. After the call, back() returns another
  /// slot.
  void publish() noexcept {
    back_ = middle_.exchange(static_cast<std::uint8_t>(back_ | fresh), std::memory_order_acq_rel) & index;
  }

  /// Called by the reader. Makes front() return the newest published value. Returns false if nothing was published
  /// since the last fetch(); front() then stays unchanged.
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

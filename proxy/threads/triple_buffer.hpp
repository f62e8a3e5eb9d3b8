#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::proxy {

/// Hands the newest value of one writer thread to one reader thread. Neither ever waits; what the reader does not fetch
/// in time is replaced. The slots are reused, so a T that keeps its capacity is published without allocating.
template <typename T>
class TripleBuffer {
 public:
  /// Writer: the slot to fill; it holds some older value.
  [[nodiscard]] T& back() noexcept { return slots_[back_]; }
  /// Writer: makes back() the newest value; back() is another slot afterwards.
  void publish() noexcept {
    back_ = middle_.exchange(static_cast<std::uint8_t>(back_ | fresh), std::memory_order_acq_rel) & index;
  }

  /// Reader: takes the newest value; false when front() is it already.
  bool fetch() noexcept {
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & index;
    return true;
  }
  /// Reader: what fetch() took last; a T as constructed before the first.
  [[nodiscard]] const T& front() const noexcept { return slots_[front_]; }

  /// Before the threads start: prepares every slot.
  template <typename Function>
  void for_each_slot(Function function) {
    for (T& slot : slots_) function(slot);
  }

 private:
  static constexpr std::uint8_t index = 3;
  static constexpr std::uint8_t fresh = 4;

  std::array<T, 3> slots_{};
  alignas(64) std::uint8_t back_ = 0;                 // the writer's
  alignas(64) std::atomic<std::uint8_t> middle_ = 1;  // whose turn it is
  alignas(64) std::uint8_t front_ = 2;                // the reader's
};

}  // namespace sluice::proxy

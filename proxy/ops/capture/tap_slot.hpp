#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/ops/capture/shard_taps.hpp"

namespace sluice::capture {

/// Lock-free hand-over of a tap set from the control thread to a shard, with acknowledgement. Neither thread waits
/// for the other.
class TapSlot {
 public:
  /// Control thread: makes the shard use these taps. The newest taps must outlive the shard's thread. Earlier ones
  /// must stay until taken() reports a newer generation.
  void offer(ShardTaps& taps) { wanted_.store(&taps, std::memory_order_release); }
  /// Control thread: returns the generation that the shard uses, or 0 before the first. The shard no longer touches
  /// earlier ones.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }

  /// Shard: returns the taps to use from now on, or null if there are none. Called while the shard uses no taps.
  [[nodiscard]] ShardTaps* current() {
    ShardTaps* const wanted = wanted_.load(std::memory_order_acquire);
    if (wanted != in_use_) [[unlikely]] {
      in_use_ = wanted;
      looking_ = wanted->empty() ? nullptr : wanted;
      taken_.store(wanted->generation(), std::memory_order_release);
    }
    return looking_;
  }

 private:
  std::atomic<ShardTaps*> wanted_{nullptr};
  std::atomic<std::uint64_t> taken_{0};
  ShardTaps* in_use_ = nullptr;   // accessed by the shard only
  ShardTaps* looking_ = nullptr;  // accessed by the shard only; null if the set has no taps
};

}  // namespace sluice::capture

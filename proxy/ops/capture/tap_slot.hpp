#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/ops/capture/shard_taps.hpp"

namespace sluice::capture {

/// Passes sets of taps (rings for captured frames) from the control thread to a shard without locks. The shard confirms
/// which set it uses. Neither thread waits for the other.
class TapSlot {
 public:
  /// Called by the control thread. Makes the shard pass its frames to the set of rings `taps`, instead of the set
  /// offered before. The newest set must outlive the shard's thread. Earlier sets must exist until taken() returns a
  /// later generation number.
  void offer(ShardTaps& taps) { offered_.store(&taps, std::memory_order_release); }
  /// Called by the control thread. Returns the generation number of the set of taps (rings for frames) that the shard
  /// uses; 0 if it uses none yet. The shard no longer accesses earlier sets.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }

  /// Called by the shard between two bursts, while it calls no function of a set of taps (rings for frames). Returns
  /// the set that the shard must use from now on, or null if the offered set has no taps.
  [[nodiscard]] ShardTaps* current() {
    ShardTaps* const offered = offered_.load(std::memory_order_acquire);
    if (offered != in_use_) [[unlikely]] {
      in_use_ = offered;
      current_ = offered->empty() ? nullptr : offered;
      taken_.store(offered->generation(), std::memory_order_release);
    }
    return current_;
  }

 private:
  std::atomic<ShardTaps*> offered_{nullptr};
  std::atomic<std::uint64_t> taken_{0};
  ShardTaps* in_use_ = nullptr;   // accessed by the shard only
  ShardTaps* current_ = nullptr;  // accessed by the shard only; null if the set has no taps
};

}  // namespace sluice::capture

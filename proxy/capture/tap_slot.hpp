#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/capture/shard_taps.hpp"

namespace sluice::capture {

/// Where the control thread says who looks at a shard's frames, and the shard which of these it has taken. Neither
/// waits for the other.
class TapSlot {
 public:
  /// Control thread: these from now on. They, and those before them until taken() says that they are no longer in use,
  /// outlive the shard's thread.
  void offer(ShardTaps& taps) { wanted_.store(&taps, std::memory_order_release); }
  /// Control thread: generation of those that the shard uses; earlier ones it does not touch any more. 0 before the
  /// first.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }

  /// Shard, where it uses none: those to use from now on; null where nobody looks.
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
  ShardTaps* in_use_ = nullptr;   // the shard's
  ShardTaps* looking_ = nullptr;  // the shard's: null where it is empty
};

}  // namespace sluice::capture

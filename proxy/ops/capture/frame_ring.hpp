#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/ops/capture/frame_sink.hpp"
#include "proxy/ops/capture/ring_layout.hpp"

namespace sluice::capture {

/// Ring of the last frames of one shard, in memory that outlives the program. Each frame has a slot, and a new one
/// replaces the oldest. A slot is marked empty while it is written. So a frame whose writing a crash has interrupted is
/// not read. Thread: the shard's.
class FrameRing final : public FrameSink {
 public:
  /// Uses `memory`, which is zeroed, outlives the ring and holds one or more slots of slot_bytes_for(snap_length). If
  /// `payload` is true, up to `snap_length` bytes of a frame are kept instead of the headers only.
  FrameRing(std::span<std::byte> memory, std::uint32_t snap_length, bool payload);

  [[nodiscard]] bool takes(const Frame& frame) override;
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const override;
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) override;

 private:
  std::span<std::byte> memory_;
  std::uint32_t snap_length_;
  bool payload_;
  std::size_t next_ = 0;  ///< offset in the memory of the slot for the next frame
  std::uint64_t count_ = 0;
};

}  // namespace sluice::capture

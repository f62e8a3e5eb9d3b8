#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/ops/capture/frame_sink.hpp"
#include "proxy/ops/capture/ring_layout.hpp"

namespace sluice::capture {

/// Ring of the last frames of one shard, in memory whose contents remain after the program ends. Each frame occupies a
/// slot, and a new frame replaces the oldest one. A slot is marked empty while it is written. If the program crashes
/// meanwhile, the incomplete frame is not read later. Thread: the shard's.
class FrameRing final : public FrameSink {
 public:
  /// Creates a ring in `memory`, which must be zeroed and outlive the ring. The memory must have space for at least one
  /// slot of slot_bytes_for(snap_length). If `payload` is true, up to `snap_length` bytes of each frame are stored,
  /// else only headers.
  FrameRing(std::span<std::byte> memory, std::uint32_t snap_length, bool payload);

  [[nodiscard]] bool takes(const Frame& frame) override;
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const override;
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) override;

 private:
  std::span<std::byte> memory_;
  std::uint32_t snap_length_;
  bool payload_;
  std::size_t next_ = 0;  ///< offset of the slot for the next frame from the start of the ring
  std::uint64_t count_ = 0;
};

}  // namespace sluice::capture

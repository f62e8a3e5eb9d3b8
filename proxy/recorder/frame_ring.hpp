#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/capture/frame_sink.hpp"
#include "proxy/recorder/ring_layout.hpp"

namespace sluice::capture {

/// The last frames of one shard, in memory that outlives the program. Each has a slot; the oldest gives its place. A
/// slot says that it is empty while it is written, so that one which the program's end interrupts is not read. Thread:
/// the shard's.
class FrameRing final : public FrameSink {
 public:
  /// `memory`: a multiple of slot_bytes_for(snap_length), of zeros, at least one slot; outlives it. `payload`: keeps up
  /// to that much of a frame, and not only of its headers.
  FrameRing(std::span<std::byte> memory, std::uint32_t snap_length, bool payload);

  [[nodiscard]] bool takes(const Frame& frame) override;
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const override;
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) override;

 private:
  std::span<std::byte> memory_;
  std::uint32_t snap_length_;
  bool payload_;
  std::size_t next_ = 0;  ///< where the next slot begins
  std::uint64_t count_ = 0;
};

}  // namespace sluice::capture

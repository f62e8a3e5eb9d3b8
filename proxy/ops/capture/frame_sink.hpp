#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/ops/capture/filter.hpp"
#include "proxy/ops/capture/frame_header.hpp"

namespace sluice::capture {

/// Destination of a shard's frames, such as a capture or the frame recorder. Functions neither block nor allocate.
/// Thread: the shard's.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// True if the frame is to be captured according to all criteria but its decision, which is not known yet. Called
  /// once per frame.
  [[nodiscard]] virtual bool takes(const Frame& frame) = 0;
  /// Returns how many bytes of the frame are captured.
  [[nodiscard]] virtual std::size_t shown_bytes(const Frame& frame) const = 0;
  /// Stores the first bytes of a frame for which takes() was true, together with its decision. The header's `captured`
  /// is not set.
  virtual void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) = 0;
};

}  // namespace sluice::capture

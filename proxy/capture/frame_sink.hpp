#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/capture/filter.hpp"
#include "proxy/pcapng/frame_header.hpp"

namespace sluice::capture {

/// Where a shard puts frames that somebody wants. Neither waits nor takes memory. Thread: the shard's.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// Whether the frame is wanted, as far as one can tell before it is dealt with. To be called once for each.
  [[nodiscard]] virtual bool takes(const Frame& frame) = 0;
  /// How much of the frame is.
  [[nodiscard]] virtual std::size_t shown_bytes(const Frame& frame) const = 0;
  /// The beginning of a frame that was wanted, and what became of it. `captured` of the header is not set.
  virtual void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) = 0;
};

}  // namespace sluice::capture

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/ops/capture/filter.hpp"
#include "proxy/ops/capture/frame_header.hpp"

namespace sluice::capture {

/// Receiver of a shard's frames, such as a capture or the recorder of the last frames. No function blocks or allocates
/// memory. Thread: the shard's.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// True if the frame is selected by all criteria except those on its decision (outcome), which is known only after
  /// the frame was processed. Called once for each frame.
  [[nodiscard]] virtual bool takes(const Frame& frame) = 0;
  /// Returns how many bytes at the start of the frame are to be stored.
  [[nodiscard]] virtual std::size_t shown_bytes(const Frame& frame) const = 0;
  /// Stores `beginning`, the first bytes of a frame for which takes() has returned true. Called when the decision
  /// (outcome of the frame) is known. FrameHeader::captured is not set in `frame`; the stored header must contain the
  /// size of `beginning` there.
  virtual void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) = 0;
};

}  // namespace sluice::capture

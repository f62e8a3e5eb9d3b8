#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::capture {

/// Outcome of a frame, as captures state it. For a received frame it is the index of the counter that counts the frame.
/// `sent_own` stands for a frame that the proxy has generated or had withheld. Each reason of a RST of the proxy has a
/// value just below `sent_own` (see decision.hpp).
using Decision = std::uint8_t;
inline constexpr Decision sent_own = 255;

/// Names of the interfaces of a capture file, one for each side and direction. Indexed by Wire::index().
inline constexpr std::array<std::string_view, 4> wire_names{"radio-received", "radio-sent", "core-received",
                                                            "core-sent"};
inline constexpr std::size_t wire_count = wire_names.size();

/// Time, length and direction of a captured frame.
struct FrameHeader {
  std::int64_t at = 0;         ///< time in nanoseconds on the clock of the shards
  std::uint32_t length = 0;    ///< length of the frame on the wire
  std::uint16_t captured = 0;  ///< number of bytes of the frame that are stored after this header
  std::uint8_t wire = 0;       ///< side and direction of the frame, as numbered by Wire::index()
  Decision decision = sent_own;
};

/// Counts of frames with one side and direction during a capture: all frames, those that the filter selects, and those
/// lost.
struct WireCounts {
  std::uint64_t seen = 0;
  std::uint64_t selected = 0;
  std::uint64_t lost = 0;  ///< number of selected frames that were lost because the ring was full

  WireCounts& operator+=(const WireCounts& other) {
    seen += other.seen;
    selected += other.selected;
    lost += other.lost;
    return *this;
  }
};

}  // namespace sluice::capture

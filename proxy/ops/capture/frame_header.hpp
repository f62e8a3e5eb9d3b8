#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::capture {

/// Outcome of a frame: the index of the counter that counts it, or `sent_own`. `sent_own` denotes a frame that the
/// proxy generated or had withheld. Resets of the proxy have the values just below `sent_own` (decision.hpp).
using Decision = std::uint8_t;
inline constexpr Decision sent_own = 255;

/// Names of the interfaces of a capture, one per port and direction, indexed by Wire::index().
inline constexpr std::array<std::string_view, 4> wire_names{"radio-received", "radio-sent", "core-received",
                                                            "core-sent"};
inline constexpr std::size_t wire_count = wire_names.size();

/// Time, length and direction of a captured frame.
struct FrameHeader {
  std::int64_t at = 0;         ///< time on the shards' clock in nanoseconds
  std::uint32_t length = 0;    ///< length of the frame on the wire
  std::uint16_t captured = 0;  ///< number of bytes of the frame that follow this header
  std::uint8_t wire = 0;       ///< interface of the frame, as Wire::index() numbers it
  Decision decision = sent_own;
};

/// Numbers of frames at one interface of a capture.
struct WireCounts {
  std::uint64_t seen = 0;
  std::uint64_t wanted = 0;
  std::uint64_t lost = 0;  ///< selected frames that did not fit into the ring

  WireCounts& operator+=(const WireCounts& other) {
    seen += other.seen;
    wanted += other.wanted;
    lost += other.lost;
    return *this;
  }
};

}  // namespace sluice::capture

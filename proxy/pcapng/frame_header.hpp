#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::capture {

/// What became of a frame: the counter that counts it, or `sent_own` for one that the proxy sent and that is not the
/// frame that just came in: a segment of its own endpoints, or one that had waited. Resets of its own have the values
/// below (decision.hpp).
using Decision = std::uint8_t;
inline constexpr Decision sent_own = 255;

/// The interfaces of a capture: a leg and a direction each, by Wire::index().
inline constexpr std::array<std::string_view, 4> wire_names{"radio-received", "radio-sent", "core-received",
                                                            "core-sent"};
inline constexpr std::size_t wire_count = wire_names.size();

/// What is noted of a frame beside its bytes.
struct FrameHeader {
  std::int64_t at = 0;         ///< nanoseconds of the shards' clock
  std::uint32_t length = 0;    ///< of the frame on the wire
  std::uint16_t captured = 0;  ///< of the bytes that follow
  std::uint8_t wire = 0;       ///< Wire::index()
  Decision decision = sent_own;
};

/// Frames of one interface so far.
struct WireCounts {
  std::uint64_t seen = 0;
  std::uint64_t wanted = 0;
  std::uint64_t lost = 0;  ///< of the wanted: found no room

  WireCounts& operator+=(const WireCounts& other) {
    seen += other.seen;
    wanted += other.wanted;
    lost += other.lost;
    return *this;
  }
};

}  // namespace sluice::capture

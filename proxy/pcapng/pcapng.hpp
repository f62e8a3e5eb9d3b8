#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/pcapng/frame_header.hpp"

namespace sluice::capture::pcapng {

/// The file format of draft-ietf-opsawg-pcapng, as far as a capture needs it: functions that append a block each. Times
/// are nanoseconds since 1970. Written here and not by rte_pcapng of DPDK 22.11, which knows no comments, names
/// interfaces by DPDK's ports and writes to a descriptor that may block.

/// What the following blocks are about: Ethernet frames of `wire_count` interfaces with the names of wire_names.
/// `device`: of each side, by Side. `snap_length`: 0 where frames are not cut at a fixed one.
void begin(std::string& out, std::string_view program, std::span<const std::string> devices, std::uint32_t snap_length);

/// A frame with its direction and a comment; none where that is empty.
void add_frame(std::string& out, const FrameHeader& frame, std::uint64_t time, std::span<const std::uint8_t> bytes,
               std::string_view comment);

/// How an interface's capture went from `begin` to `end`.
void add_statistics(std::string& out, std::size_t wire, const WireCounts& counts, std::uint64_t begin,
                    std::uint64_t end);

}  // namespace sluice::capture::pcapng

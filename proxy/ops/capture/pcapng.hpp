#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/ops/capture/frame_header.hpp"

/// Functions that append blocks in the pcapng format (draft-ietf-opsawg-pcapng), as far as a capture needs it. Times
/// are nanoseconds since 1970. rte_pcapng of DPDK 22.11 is not used, because it supports no comments, names interfaces
/// by DPDK's ports, and writes to a descriptor that may block.
namespace sluice::capture::pcapng {

/// Appends the section header and a description of each interface in wire_names. `devices` is indexed by Side.
/// `snap_length` is 0 if the captured length differs from frame to frame.
void begin(std::string& out, std::string_view program, std::span<const std::string> devices, std::uint32_t snap_length);

/// Appends a captured frame with its direction. `bytes` are the stored bytes of the frame, and `time` is its time in ns
/// since 1970. If `comment` is not empty, adds it to the frame.
void add_frame(std::string& out, const FrameHeader& frame, std::uint64_t time, std::span<const std::uint8_t> bytes,
               std::string_view comment);

/// Appends an Interface Statistics Block with the counts of frames on one interface from `begin` to `end`, in ns since
/// 1970. `wire` is the index of the interface.
void add_statistics(std::string& out, std::size_t wire, const WireCounts& counts, std::uint64_t begin,
                    std::uint64_t end);

}  // namespace sluice::capture::pcapng

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/packet/parse.hpp"
#include "dataplane/tcp/segment.hpp"

namespace sluice::packet {

/// Reads TCP options (RFC 9293 section 3.2; 7323, 2018) into `segment`; reports those that are not understood and an
/// impossible length, at which reading ends. Options that only mean something in a SYN are ignored elsewhere. Where an
/// option occurs twice the last one counts. `options` ends at the data offset.
[[nodiscard]] UnknownOptions read_options(std::span<const std::uint8_t> options, bool ipv6,
                                          tcp::Segment& segment) noexcept;

inline constexpr std::size_t usual_syn_options = 20;
/// The options of a SYN as nearly all kernels write them: MSS, SACK permitted, timestamps, window scale. False, and
/// nothing is read, where they are anything else.
[[nodiscard]] bool read_usual_syn_options(std::span<const std::uint8_t, usual_syn_options> options,
                                          tcp::Segment& segment) noexcept;

/// "timestamps"; "unknown" for a kind that means nothing to us.
[[nodiscard]] std::string_view option_name(std::uint8_t kind) noexcept;

}  // namespace sluice::packet

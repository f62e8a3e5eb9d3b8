#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/segment.hpp"

namespace sluice::packet {

/// Calls visit(at, length) for each TCP option except NOPs; `at` is its offset in `options`. Returns false if it stops
/// early at an option with an invalid length.
template <typename Visit>
bool for_each_option(std::span<const std::uint8_t> options, Visit&& visit) {
  std::size_t at = 0;
  while (at < options.size() && options[at] != tcp_option::end) {
    if (options[at] == tcp_option::nop) {
      ++at;
      continue;
    }
    const std::size_t left = options.size() - at;
    if (left < 2 || options[at + 1] < 2 || options[at + 1] > left) return false;
    const std::size_t length = options[at + 1];
    visit(at, length);
    at += length;
  }
  return true;
}

/// Reads TCP options (RFC 9293 section 3.2, RFC 7323, RFC 2018) into `segment`. `ipv6` selects the MSS that applies if
/// a SYN has no MSS option. Returns which unsupported options were found. Reading stops at an option with an invalid
/// length, which is reported too. SYN options in other segments are ignored. If an option occurs twice, the last one is
/// used. `options` ends at the data offset.
[[nodiscard]] UnknownOptions read_options(std::span<const std::uint8_t> options, bool ipv6,
                                          tcp::Segment& segment) noexcept;

inline constexpr std::size_t common_syn_options = 20;
/// Reads the options of a SYN that are in the order which nearly all kernels write: MSS, SACK permitted, timestamps,
/// window scale. Returns false and reads nothing if the options or their order differ.
[[nodiscard]] bool read_common_syn_options(std::span<const std::uint8_t, common_syn_options> options,
                                           tcp::Segment& segment) noexcept;

/// Returns the name of an option kind, such as "timestamps"; "unknown" for other kinds.
[[nodiscard]] std::string_view option_name(std::uint8_t kind) noexcept;

}  // namespace sluice::packet

#include "dataplane/packet/parse_options.hpp"

#include <algorithm>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

/// RFC 7323 section 2.3: a larger shift count is read as 14.
constexpr std::uint8_t max_window_scale = 14;
/// Magic number of Fast Open under the experimental option kinds (RFC 7413 section 4.1.1, RFC 6994).
constexpr std::uint16_t fast_open_experiment = 0xf989;

std::uint8_t unknown_bit(std::span<const std::uint8_t> option) {
  switch (option[0]) {
    case tcp_option::multipath:
      return UnknownOptions::multipath;
    case tcp_option::authentication:
      return UnknownOptions::authentication;
    case tcp_option::md5:
      return UnknownOptions::md5;
    case tcp_option::fast_open:
      return UnknownOptions::fast_open;
    case tcp_option::experiment_1:
    case tcp_option::experiment_2:
      return option.size() >= 4 && load_be16(option.data() + 2) == fast_open_experiment ? UnknownOptions::fast_open
                                                                                        : UnknownOptions::other;
    default:
      return UnknownOptions::other;
  }
}

/// Reads SACK blocks (RFC 2018 section 3); false when the option's length is no whole number of blocks.
bool read_sack(std::span<const std::uint8_t> option, tcp::Segment& segment) {
  const std::size_t blocks = (option.size() - 2) / 8;
  if (option.size() != 2 + 8 * blocks || blocks < 1 || blocks > segment.sack_blocks.size()) return false;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::uint8_t* const at = option.data() + 2 + 8 * i;
    segment.sack_blocks[i] = {tcp::SeqNum(load_be32(at)), tcp::SeqNum(load_be32(at + 4))};
  }
  segment.sack_count = static_cast<std::uint8_t>(blocks);
  return true;
}

/// Reads one option of a kind that has a length; returns the bit to report, 0 for none.
std::uint8_t read_option(std::span<const std::uint8_t> option, tcp::Segment& segment) {
  const auto expect = [&](std::size_t length) {
    return option.size() == length ? std::uint8_t{0} : UnknownOptions::malformed;
  };
  const bool syn = segment.flags.syn();
  switch (option[0]) {
    case tcp_option::mss:
      if (syn && option.size() == 4) segment.syn.mss = load_be16(option.data() + 2);
      return expect(4);
    case tcp_option::window_scale:
      if (syn && option.size() == 3) {
        segment.syn.has_window_scale = true;
        segment.syn.window_scale = std::min(option[2], max_window_scale);
      }
      return expect(3);
    case tcp_option::sack_permitted:
      if (syn && option.size() == 2) segment.syn.sack_permitted = true;
      return expect(2);
    case tcp_option::timestamps:
      if (option.size() == 10) {
        segment.has_timestamps = true;
        segment.syn.timestamps = syn;
        segment.ts_value = load_be32(option.data() + 2);
        segment.ts_echo = load_be32(option.data() + 6);
      }
      return expect(10);
    case tcp_option::sack:
      return read_sack(option, segment) ? std::uint8_t{0} : UnknownOptions::malformed;
    default:
      return unknown_bit(option);
  }
}

}  // namespace

UnknownOptions read_options(std::span<const std::uint8_t> options, bool ipv6, tcp::Segment& segment) noexcept {
  if (segment.flags.syn() && ipv6) segment.syn.mss = 1220;  // RFC 9293 section 3.7.1, where the option is missing
  UnknownOptions unknown;
  std::size_t at = 0;
  while (at < options.size() && options[at] != tcp_option::end) {
    if (options[at] == tcp_option::nop) {
      ++at;
      continue;
    }
    const std::size_t left = options.size() - at;
    if (left < 2 || options[at + 1] < 2 || options[at + 1] > left) {
      unknown.bits |= UnknownOptions::malformed;
      break;
    }
    const std::size_t length = options[at + 1];
    unknown.bits = static_cast<std::uint8_t>(unknown.bits | read_option(options.subspan(at, length), segment));
    at += length;
  }
  return unknown;
}

}  // namespace sluice::packet

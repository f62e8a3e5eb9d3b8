// Reader of TCP options. parse_options.hpp is used by parse.cpp for segments whose options are not timestamps alone. A
// table has one rule per option kind: its length, where it is valid, and its reader. A length that does not fit the
// options or the kind ends the reading or reports the option as malformed.

#include "dataplane/packet/parse_options.hpp"

#include <algorithm>
#include <array>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

using Option = std::span<const std::uint8_t>;

/// Largest shift count; RFC 7323 section 2.3 requires that a larger one is read as 14.
constexpr std::uint8_t max_window_scale = 14;
/// Magic number of Fast Open in the experimental option kinds (RFC 7413 section 4.1.1, RFC 6994).
constexpr std::uint16_t fast_open_experiment = 0xf989;

// --- readers of options with a valid length; each returns the bit to report, 0 for none ---

std::uint8_t read_mss(Option option, tcp::Segment& segment) {
  segment.syn.mss = load_be16(option.data() + 2);
  return 0;
}

std::uint8_t read_window_scale(Option option, tcp::Segment& segment) {
  segment.syn.has_window_scale = true;
  segment.syn.window_scale = std::min(option[2], max_window_scale);
  return 0;
}

std::uint8_t read_sack_permitted(Option, tcp::Segment& segment) {
  segment.syn.sack_permitted = true;
  return 0;
}

/// Reads the blocks of a SACK option. Returns 0, or the bit `malformed` if the option does not consist of one to four
/// whole blocks (RFC 2018 section 3).
std::uint8_t read_sack(Option option, tcp::Segment& segment) {
  const std::size_t blocks = (option.size() - 2) / 8;
  if (option.size() != 2 + 8 * blocks || blocks < 1 || blocks > segment.sack_blocks.size()) {
    return UnknownOptions::malformed;
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::uint8_t* const at = option.data() + 2 + 8 * i;
    segment.sack_blocks[i] = {tcp::SeqNum(load_be32(at)), tcp::SeqNum(load_be32(at + 4))};
  }
  segment.sack_count = static_cast<std::uint8_t>(blocks);
  return 0;
}

std::uint8_t read_timestamps(Option option, tcp::Segment& segment) {
  segment.has_timestamps = true;
  segment.syn.timestamps = segment.flags.syn();
  segment.ts_value = load_be32(option.data() + 2);
  segment.ts_echo = load_be32(option.data() + 6);
  return 0;
}

std::uint8_t read_experiment(Option option, tcp::Segment&) {
  const bool fast_open = option.size() >= 4 && load_be16(option.data() + 2) == fast_open_experiment;
  return fast_open ? UnknownOptions::fast_open : UnknownOptions::other;
}

/// Reads an AccECN option of any length. Its byte counters are not used, because the ACE field suffices. A SYN must not
/// have the option (RFC 9768 section 3.2.3), so there it is reported as UnknownOptions::other.
std::uint8_t read_accurate_ecn(Option, tcp::Segment& segment) {
  return segment.flags.syn() && !segment.flags.ack() ? UnknownOptions::other : std::uint8_t{0};
}

/// Returns the bit that reports an unsupported option. A connection whose SYN has such an option is not split.
template <std::uint8_t bit>
std::uint8_t report(Option, tcp::Segment&) {
  return bit;
}

constexpr std::uint8_t any_length = 0;

/// Segments in which an option is valid.
enum class Place : std::uint8_t { syn, anywhere };

/// Table of the known options: X(kind, length including kind and length bytes, where valid, reader). Options without an
/// entry are reported as UnknownOptions::other.
#define SLUICE_TCP_OPTIONS(X)                                                     \
  X(mss, 4, syn, read_mss)                                                        \
  X(window_scale, 3, syn, read_window_scale)                                      \
  X(sack_permitted, 2, syn, read_sack_permitted)                                  \
  X(sack, any_length, anywhere, read_sack)                                        \
  X(timestamps, 10, anywhere, read_timestamps)                                    \
  X(md5, any_length, anywhere, report<UnknownOptions::md5>)                       \
  X(authentication, any_length, anywhere, report<UnknownOptions::authentication>) \
  X(multipath, any_length, anywhere, report<UnknownOptions::multipath>)           \
  X(fast_open, any_length, anywhere, report<UnknownOptions::fast_open>)           \
  X(accurate_ecn_0, any_length, anywhere, read_accurate_ecn)                      \
  X(accurate_ecn_1, any_length, anywhere, read_accurate_ecn)                      \
  X(experiment_1, any_length, anywhere, read_experiment)                          \
  X(experiment_2, any_length, anywhere, read_experiment)

struct Rule {
  std::uint8_t length = any_length;
  Place place = Place::anywhere;
  std::uint8_t (*read)(Option, tcp::Segment&) = report<UnknownOptions::other>;
  std::string_view name = "unknown";
};

/// Returns how each TCP option is read, indexed by option kind.
constexpr std::array<Rule, 256> make_rules() {
  std::array<Rule, 256> rules{};
#define X(kind, length, place, read) rules[tcp_option::kind] = {length, Place::place, read, #kind};
  SLUICE_TCP_OPTIONS(X)
#undef X
  return rules;
}
constexpr std::array<Rule, 256> rules = make_rules();

/// Reads one option according to the table of known options. Returns the bit of UnknownOptions to set; 0 if the option
/// is known or has no effect.
std::uint8_t read_option(Option option, tcp::Segment& segment) {
  const Rule& rule = rules[option[0]];
  if (rule.length != any_length && rule.length != option.size()) return UnknownOptions::malformed;
  if (rule.place == Place::syn && !segment.flags.syn()) return 0;
  return rule.read(option, segment);
}

}  // namespace

bool read_common_syn_options(std::span<const std::uint8_t, common_syn_options> options,
                             tcp::Segment& segment) noexcept {
  constexpr std::uint32_t mss = 0x00000402, sack_and_timestamps = 0x0a080204, scale = 0x00030301;
  const std::uint8_t* const at = options.data();
  const bool usual = (load32(at) & 0x0000ffffU) == mss && load32(at + 4) == sack_and_timestamps &&
                     (load32(at + 16) & 0x00ffffffU) == scale;
  if (!usual) return false;
  segment.syn.mss = load_be16(at + 2);
  segment.syn.window_scale = std::min(at[common_syn_options - 1], max_window_scale);
  segment.syn.has_window_scale = segment.syn.sack_permitted = segment.syn.timestamps = true;
  segment.has_timestamps = true;
  segment.ts_value = load_be32(at + 8);
  segment.ts_echo = load_be32(at + 12);
  return true;
}

std::string_view option_name(std::uint8_t kind) noexcept {
  return kind == tcp_option::end ? "end" : kind == tcp_option::nop ? "nop" : rules[kind].name;
}

UnknownOptions read_options(std::span<const std::uint8_t> options, bool ipv6, tcp::Segment& segment) noexcept {
  if (segment.flags.syn()) {
    if (options.size() == common_syn_options && read_common_syn_options(options.first<common_syn_options>(), segment))
      return {};
    if (ipv6) segment.syn.mss = 1220;  // RFC 9293 section 3.7.1, if the option is missing
  }
  UnknownOptions unknown;
  const auto read = [&](std::size_t at, std::size_t length) {
    unknown.bits = static_cast<std::uint8_t>(unknown.bits | read_option(options.subspan(at, length), segment));
  };
  if (!for_each_option(options, read)) unknown.bits |= UnknownOptions::malformed;
  return unknown;
}

}  // namespace sluice::packet

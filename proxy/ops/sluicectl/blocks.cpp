#include "proxy/ops/sluicectl/blocks.hpp"

#include <cstddef>
#include <cstring>

namespace sluice::sluicectl {
namespace {

// Block types and option codes of draft-ietf-opsawg-pcapng, section 4.
constexpr std::uint32_t interface_statistics = 5;
constexpr std::uint32_t enhanced_packet = 6;

/// Offset of the options in an Interface Statistics Block of pcapng. Before them are block type, block length,
/// interface and timestamp.
constexpr std::size_t statistics_options_at = 20;
constexpr std::uint16_t isb_ifdrop = 5;
constexpr std::uint16_t isb_filteraccept = 6;
constexpr std::size_t shortest_block = 12;
/// Maximum length in bytes of a pcapng block that is accepted. A block with a frame and its options is always shorter.
constexpr std::size_t longest_block = 1U << 17U;

/// Reads a number at offset `at`, which must be within `bytes`.
template <typename T>
T read_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::optional<std::string> Blocks::take(std::string_view bytes) {
  rest_ += bytes;
  std::size_t end = 0;
  while (rest_.size() - end >= shortest_block) {
    const std::size_t length = read_at<std::uint32_t>(rest_, end + 4);
    if (length < shortest_block || length % 4 != 0 || length > longest_block) return std::nullopt;
    if (rest_.size() - end < length) break;
    count(std::string_view(rest_).substr(end, length));
    end += length;
  }
  std::string whole = rest_.substr(0, end);
  rest_.erase(0, end);
  return whole;
}

void Blocks::count(std::string_view block) {
  const auto type = read_at<std::uint32_t>(block, 0);
  if (type == enhanced_packet) ++totals_.frames;
  if (type != interface_statistics) return;
  totals_.complete = true;
  std::size_t at = statistics_options_at;
  while (at + 4 <= block.size()) {
    const auto code = read_at<std::uint16_t>(block, at);
    const std::size_t length = read_at<std::uint16_t>(block, at + 2);
    const bool number = length == sizeof(std::uint64_t) && at + 4 + length <= block.size();
    if (number && code == isb_ifdrop) totals_.lost += read_at<std::uint64_t>(block, at + 4);
    if (number && code == isb_filteraccept) totals_.selected += read_at<std::uint64_t>(block, at + 4);
    at += 4 + (length + 3) / 4 * 4;
  }
}

}  // namespace sluice::sluicectl

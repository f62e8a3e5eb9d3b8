#include "emulator/provenance/difference.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice::emulator {
namespace {

constexpr std::size_t max_shown = 60;

/// Returns the text from a few characters before `at` to the end of the line, with control characters replaced for
/// terminals. The text is cut if it is long.
std::string piece(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "nothing more";
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t from = std::max(line, at - std::min(at, max_shown / 3));
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string cut(text.substr(from, std::min(end - from, max_shown)));
  std::replace_if(
      cut.begin(), cut.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return (from > line ? "\"…" : "\"") + cut + (end - from > max_shown ? "…\"" : "\"");
}

}  // namespace

std::string first_difference(std::string_view before, std::string_view now) {
  const auto [b, n] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  if (b == before.end() && n == now.end()) return {};
  const auto at = static_cast<std::size_t>(b - before.begin());
  const auto line = std::count(before.begin(), b, '\n') + 1;
  return "line " + std::to_string(line) + ": " + piece(before, at) + " before, " + piece(now, at) + " now";
}

}  // namespace sluice::emulator

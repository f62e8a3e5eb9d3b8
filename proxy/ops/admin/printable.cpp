#include "proxy/ops/admin/printable.hpp"

#include <cstddef>

namespace sluice::admin {
namespace {

unsigned octet(char c) {
  return static_cast<unsigned char>(c);
}

/// Returns the length in bytes of the UTF-8 character at the start of `text` (RFC 3629 section 4). Returns 0 if there
/// is none.
std::size_t character_size(std::string_view text) {
  const unsigned lead = octet(text[0]);
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((octet(text[i]) & 0xc0U) != 0x80) return 0;
  }
  return size;
}

bool is_control(std::string_view character) {
  const unsigned lead = octet(character[0]);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && octet(character[1]) < 0xa0);
}

}  // namespace

std::string printable(std::string_view text, bool lines) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    const bool keep = size != 0 && (!is_control(character) || (lines && character == "\n"));
    if (keep) {
      shown += character;
    } else {
      for (const char c : character) {
        shown += "\\x";
        shown += digits[octet(c) >> 4U];
        shown += digits[octet(c) & 0xfU];
      }
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace sluice::admin

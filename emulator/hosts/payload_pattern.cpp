#include "emulator/hosts/payload_pattern.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace sluice::emulator {
namespace {

// A prime, so that a shift by a power of two is never a shift by whole periods.
constexpr std::size_t period = 65'521;

const std::vector<std::uint8_t>& table() {
  static const std::vector<std::uint8_t> bytes = [] {
    std::vector<std::uint8_t> filled(period);
    std::uint64_t state = 0x736c75696365;
    for (std::uint8_t& byte : filled) {
      state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;  // Knuth's MMIX
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    return filled;
  }();
  return bytes;
}

/// Divides a range of the pattern table into contiguous parts, because the range may wrap around at the table's end.
/// Calls `piece(bytes, offset in the range)` for each part. The range is `size` bytes from `at` on.
template <typename Piece>
void for_pieces(std::size_t at, std::size_t size, Piece&& piece) {
  const std::vector<std::uint8_t>& bytes = table();
  for (std::size_t done = 0; done < size;) {
    const std::size_t count = std::min(size - done, period - at);
    piece(std::span(bytes).subspan(at, count), done);
    done += count;
    at = 0;
  }
}

}  // namespace

PayloadPattern::PayloadPattern(std::uint64_t key) : start_((key * 0x9e3779b97f4a7c15U) % period) {}

void PayloadPattern::fill(std::uint64_t position, std::span<std::uint8_t> out) const {
  for_pieces((start_ + position % period) % period, out.size(),
             [&](std::span<const std::uint8_t> bytes, std::size_t at) {
               std::memcpy(out.data() + at, bytes.data(), bytes.size());
             });
}

bool PayloadPattern::matches(std::uint64_t position, std::span<const std::uint8_t> bytes) const {
  bool equal = true;
  for_pieces((start_ + position % period) % period, bytes.size(),
             [&](std::span<const std::uint8_t> wanted, std::size_t at) {
               equal = equal && std::memcmp(bytes.data() + at, wanted.data(), wanted.size()) == 0;
             });
  return equal;
}

}  // namespace sluice::emulator

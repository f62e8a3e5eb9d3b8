#include "emulator/hosts/request.hpp"

#include <algorithm>

namespace sluice::emulator {
namespace {

constexpr std::array<std::uint8_t, 4> magic = {'S', 'L', 'Q', '1'};

}  // namespace

std::array<std::uint8_t, Request::length> Request::encode() const {
  std::array<std::uint8_t, length> bytes{};
  std::copy(magic.begin(), magic.end(), bytes.begin());
  bytes[4] = static_cast<std::uint8_t>(verb);
  for (unsigned i = 0; i < 8; ++i) bytes[8 + i] = static_cast<std::uint8_t>(size >> (56 - 8 * i));
  return bytes;
}

std::optional<Request> Request::decode(std::span<const std::uint8_t, length> bytes) {
  if (!std::equal(magic.begin(), magic.end(), bytes.begin())) return std::nullopt;
  if (bytes[4] != static_cast<std::uint8_t>(Verb::fetch) && bytes[4] != static_cast<std::uint8_t>(Verb::put)) {
    return std::nullopt;
  }
  Request request;
  request.verb = static_cast<Verb>(bytes[4]);
  for (unsigned i = 0; i < 8; ++i) request.size = request.size << 8 | bytes[8 + i];
  return request;
}

}  // namespace sluice::emulator

#include "dataplane/units/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string copy(text);  // inet_pton() requires a terminating zero
  in_addr v4_address{};
  if (inet_pton(AF_INET, copy.c_str(), &v4_address) == 1) {
    std::array<std::uint8_t, 4> raw{};
    std::memcpy(raw.data(), &v4_address, raw.size());
    return v4(raw[0], raw[1], raw[2], raw[3]);
  }
  IpAddress address;
  if (inet_pton(AF_INET6, copy.c_str(), address.octets.data()) == 1) return address;
  return std::nullopt;
}

IpAddress::Text IpAddress::text() const {
  static_assert(Text().size() == INET6_ADDRSTRLEN);
  Text text{};
  if (is_v4()) {
    inet_ntop(AF_INET, octets.data() + 12, text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, octets.data(), text.data(), text.size());
  }
  return text;
}

std::string IpAddress::to_string() const {
  return text().data();
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = IpAddress::parse(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (!address || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  if (bits > (v4 ? 32U : 128U)) return std::nullopt;
  const IpPrefix prefix{*address, static_cast<std::uint8_t>(v4 ? bits + 96 : bits)};
  for (std::size_t bit = prefix.length; bit < 128; ++bit) {
    if ((prefix.address.octets[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return prefix;
}

bool IpPrefix::contains(const IpAddress& candidate) const {
  const std::size_t whole = length / 8;
  if (!std::equal(address.octets.begin(), address.octets.begin() + static_cast<std::ptrdiff_t>(whole),
                  candidate.octets.begin())) {
    return false;
  }
  if (length % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff00U >> (length % 8));
  return (address.octets[whole] & mask) == (candidate.octets[whole] & mask);
}

std::string IpPrefix::to_string() const {
  return address.to_string() + "/" + std::to_string(address.is_v4() && length >= 96 ? length - 96 : length);
}

}  // namespace sluice

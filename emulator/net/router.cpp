#include "emulator/net/router.hpp"

#include <algorithm>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

void Router::add(const IpPrefix& prefix, Element& next) {
  prefixes_.emplace_back(prefix, &next);
  std::stable_sort(prefixes_.begin(), prefixes_.end(),
                   [](const auto& a, const auto& b) { return a.first.length > b.first.length; });
}

Element* Router::lookup(const IpAddress& address) const {
  if (const auto host = hosts_.find(address); host != hosts_.end()) return host->second;
  for (const auto& [prefix, next] : prefixes_) {
    if (prefix.contains(address)) return next;
  }
  return default_;
}

void Router::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  Element* const next = header ? lookup(header->destination) : default_;
  if (next == nullptr) {
    ++dropped_;
    return;
  }
  next->receive(std::move(packet), now);
}

}  // namespace sluice::emulator

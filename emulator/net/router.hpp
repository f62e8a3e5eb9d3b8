#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// Forwards packets by destination address: an exact match first, then the longest prefix, then the default route.
class Router final : public Element {
 public:
  /// Adds a route for one address.
  void add(const IpAddress& address, Element& next) { hosts_[address] = &next; }
  /// Adds a route for a prefix.
  void add(const IpPrefix& prefix, Element& next);
  /// Sets the default route for unmatched packets and frames that are not IP; null drops them.
  void set_default(Element* next) { default_ = next; }

  void receive(packet::Packet packet, Instant now) override;
  /// Returns the number of packets without a route.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  /// Returns the next hop of an address; null if there is none.
  [[nodiscard]] Element* lookup(const IpAddress& address) const;

  std::unordered_map<IpAddress, Element*> hosts_;
  std::vector<std::pair<IpPrefix, Element*>> prefixes_;  ///< routes by prefix length, longest first
  Element* default_ = nullptr;
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::emulator

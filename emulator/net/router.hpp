#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// Passes packets on by their destination address: an exact address first, then the longest prefix, then the default.
class Router final : public Element {
 public:
  void add(const IpAddress& address, Element& next) { hosts_[address] = &next; }
  void add(const IpPrefix& prefix, Element& next);
  /// For what no route names, and for frames that are not IP; null drops them.
  void set_default(Element* next) { default_ = next; }

  void receive(packet::Packet packet, Instant now) override;
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] Element* lookup(const IpAddress& address) const;

  std::unordered_map<IpAddress, Element*> hosts_;
  std::vector<std::pair<IpPrefix, Element*>> prefixes_;  ///< longest first
  Element* default_ = nullptr;
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::emulator

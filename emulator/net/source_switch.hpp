#pragma once

#include <utility>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

/// Forwards packets by their source address: those of an address set by add() to the element of this address, and all
/// other packets to one default element. The search is linear, because there are few addresses.
class SourceSwitch final : public Element {
 public:
  /// Creates a switch without addresses; `otherwise` receives all other packets and must outlive it.
  explicit SourceSwitch(Element& otherwise) : otherwise_(&otherwise) {}

  /// Adds a source address whose packets go to `next`, which must outlive the switch. If an address is added twice, the
  /// first entry applies.
  void add(const IpAddress& source, Element& next) { ways_.emplace_back(source, &next); }

  void receive(packet::Packet packet, Instant now) override {
    const auto header = read_ip_header(packet.bytes());
    Element* next = otherwise_;
    for (const auto& [source, way] : ways_) {
      if (!header || header->source != source) continue;
      next = way;
      break;
    }
    next->receive(std::move(packet), now);
  }

 private:
  Element* otherwise_;
  std::vector<std::pair<IpAddress, Element*>> ways_;
};

}  // namespace sluice::emulator

#pragma once

#include <utility>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

/// Sends what comes from some addresses another way than the rest. Linear in their number, which is small.
class SourceSwitch final : public Element {
 public:
  /// `otherwise` outlives it.
  explicit SourceSwitch(Element& otherwise) : otherwise_(&otherwise) {}

  /// What comes from `source` goes to `next`, which outlives the switch. The first of several for one address counts.
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

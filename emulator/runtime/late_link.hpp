#pragma once

#include <utility>

#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// Passes on to an element that is made later: networks have cycles. Nothing may come before lead_to().
class LateLink final : public Element {
 public:
  void lead_to(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  Element* next_ = nullptr;
};

}  // namespace sluice::emulator

#pragma once

#include <utility>

#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// Forwards packets to an element that is created later. It is needed because the elements of a network form cycles.
/// Call set_next() before the first packet.
class DeferredElement final : public Element {
 public:
  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  Element* next_ = nullptr;
};

}  // namespace sluice::emulator

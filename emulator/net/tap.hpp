#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// Calls a function with every packet and forwards the packet.
class Tap final : public Element {
 public:
  /// Function that the tap calls with each packet and its arrival time.
  using Look = std::function<void(const packet::Packet&, Instant)>;
  Tap(Look look, Element& next) : look_(std::move(look)), next_(&next) {}

  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override {
    look_(packet, now);
    next_->receive(std::move(packet), now);
  }

 private:
  Look look_;
  Element* next_;
};

/// Counts and drops every packet.
class Discard final : public Element {
 public:
  void receive(packet::Packet packet, Instant /*now*/) override {
    ++packets_;
    bytes_ += packet.size();
  }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice::emulator

#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// An amount or a rate that counts IP packets whole, as what the Node-B reports does. A window counts payload: only a
/// Framing makes one of the other.
template <typename Amount>
class OnWire {
 public:
  constexpr OnWire() = default;
  constexpr explicit OnWire(Amount amount) : amount_(amount) {}
  [[nodiscard]] constexpr Amount amount() const { return amount_; }

  constexpr auto operator<=>(const OnWire&) const = default;

 private:
  Amount amount_{};
};

/// How much of the packets that carry a stream's data is payload: the mean of about the last hundred kilobytes, 1
/// before there were any. No clock inside; thread: its owner's.
class Framing {
 public:
  /// A packet with `payload` > 0 was sent, of which it is a part.
  void sent(Bytes payload, OnWire<Bytes> packet) {
    payload_ += payload;
    packets_ += packet.amount();
    if (packets_ < memory) return;
    payload_ = payload_ / 2;
    packets_ = packets_ / 2;
  }
  /// 0 < share ≤ 1.
  [[nodiscard]] double share() const {
    return packets_ > Bytes{} ? static_cast<double>(payload_.count()) / static_cast<double>(packets_.count()) : 1;
  }
  [[nodiscard]] Bytes payload_of(OnWire<Bytes> amount) const {
    return Bytes(static_cast<double>(amount.amount().count()) * share());
  }
  [[nodiscard]] Rate payload_of(OnWire<Rate> rate) const { return rate.amount() * share(); }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr Bytes memory{128 * 1024};

  Bytes payload_;
  Bytes packets_;
};

}  // namespace sluice::control

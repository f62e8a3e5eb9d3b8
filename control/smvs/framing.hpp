#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"

namespace sluice::control {

/// Number of bytes, or rate, that counts whole IP packets, as the Node-B's reports do. TCP windows count payload only.
/// Class Framing converts between both counts.
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

/// Measures the share of payload in a stream's IP bytes, as a mean over about the last 100 kB. The share is 1 before
/// any bytes were sent. Reads no clock. Not thread-safe.
class Framing {
 public:
  /// Records a packet that was sent, with `payload` > 0 bytes of payload; `packet` is its size in IP bytes.
  void sent(Bytes payload, OnWire<Bytes> packet) {
    payload_ += payload;
    packets_ += packet.amount();
    if (packets_ < memory) return;
    payload_ = payload_ / 2;
    packets_ = packets_ / 2;
  }
  /// Returns the mean share of payload in the packets sent, 0 < share ≤ 1.
  [[nodiscard]] double share() const {
    return packets_ > Bytes{} ? static_cast<double>(payload_.count()) / static_cast<double>(packets_.count()) : 1;
  }
  [[nodiscard]] Bytes payload_of(OnWire<Bytes> amount) const {
    return Bytes(static_cast<double>(amount.amount().count()) * share());
  }
  [[nodiscard]] Rate payload_of(OnWire<Rate> rate) const { return rate.amount() * share(); }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr Bytes memory{128 * 1024};

  Bytes payload_;
  Bytes packets_;
};

}  // namespace sluice::control

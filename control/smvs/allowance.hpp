#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Size of the longest packet in IP bytes. A new allowance (bytes that the proxy may send) replaces the old one, except
/// for up to this many unused bytes.
inline constexpr Bytes longest_packet{1500};

/// Bytes that the proxy may send towards one UE until the next report of the Node-B. A new allowance replaces the
/// unused bytes of the previous one, because allowances do not accumulate. Up to one packet of unused bytes is kept,
/// because a packet larger than each single allowance could otherwise never be sent.
class Allowance {
 public:
  /// Makes an allowance of zero bytes. `packet` is the size of the largest packet that is sent.
  explicit Allowance(Bytes packet = longest_packet) : packet_(packet) {}

  void grant(Bytes amount) { left_ = std::max(amount, Bytes(0)) + std::min(left_, packet_); }
  /// Reduces the allowance by `amount` and returns true, if that many bytes may be sent now; otherwise returns false.
  bool take(Bytes amount) {
    if (amount > left_) return false;
    left_ -= amount;
    return true;
  }
  [[nodiscard]] Bytes left() const { return left_; }
  void clear() { left_ = Bytes(0); }

 private:
  Bytes packet_;
  Bytes left_;
};

}  // namespace sluice::control

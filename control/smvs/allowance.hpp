#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Size of the longest packet. When a new allowance replaces the old one, up to this many unused bytes of the old one
/// are kept.
inline constexpr Bytes longest_packet{1500};

/// Bytes that the proxy may send towards one UE until the next report of the Node-B. A new allowance replaces the
/// unused bytes of the previous one, because allowances do not accumulate. Up to one packet of unused bytes is kept,
/// because a packet larger than each single allowance could otherwise never be sent.
class Allowance {
 public:
  /// Makes an empty allowance; `packet` is the largest packet that is sent.
  explicit Allowance(Bytes packet = longest_packet) : packet_(packet) {}

  void grant(Bytes amount) { left_ = std::max(amount, Bytes(0)) + std::min(left_, packet_); }
  /// Returns true and reduces the allowance by `amount` if that many bytes may be sent now; otherwise returns false.
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

#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Size of the longest packet. When a new allowance replaces the old one, up to this many unused bytes of the old one
/// are kept.
inline constexpr Bytes longest_packet{1500};

/// Bytes that the proxy may send towards one UE until the next report of the Node-B. A new grant replaces the unused
/// bytes of the previous one, because allowances do not accumulate. Unused bytes of up to one packet are kept.
/// Otherwise an allowance smaller than a packet could never be used.
class Allowance {
 public:
  /// Makes an empty allowance; `packet` is the largest packet that is sent.
  explicit Allowance(Bytes packet = longest_packet) : packet_(packet) {}

  void grant(Bytes amount) { left_ = std::max(amount, Bytes(0)) + std::min(left_, packet_); }
  /// Reduces the allowance by `amount` and returns true, if that many bytes may be sent now.
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

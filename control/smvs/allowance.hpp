#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Size of the longest packet. Up to this many unused bytes of an allowance are kept when the next allowance arrives.
inline constexpr Bytes longest_packet{1500};

/// Bytes that a bearer may inject until the next report. A new grant replaces the unused bytes of the previous one,
/// because allowances do not accumulate. Unused bytes of up to one packet are kept. Otherwise allowances below a packet
/// would be lost for ever.
class Allowance {
 public:
  /// Makes an empty allowance; `packet` is the largest packet that is sent.
  explicit Allowance(Bytes packet = longest_packet) : packet_(packet) {}

  void grant(Bytes amount) { left_ = std::max(amount, Bytes(0)) + std::min(left_, packet_); }
  /// Spends `amount` and returns true if it is available now.
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

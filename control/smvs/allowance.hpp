#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Largest part of an unused allowance that is kept when the next one arrives; the rest is forfeited.
inline constexpr Bytes longest_packet{1500};

/// Bytes that a bearer may inject until the next report. A grant replaces the unused rest of the previous one, because
/// allowances do not accumulate.
/// A rest of up to one packet is kept, because allowances are fractions of packets and one below a packet would be lost
/// for ever.
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

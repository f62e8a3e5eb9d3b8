#pragma once

#include <algorithm>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// The part of a packet that is kept of an unused allowance when the next one comes; the rest is forfeited.
inline constexpr Bytes longest_packet{1500};

/// What a bearer may inject until the next report. A grant replaces what is left of the one before it (an unused
/// allowance does not pile up), but for the part of a packet: allowances are fractions of packets, and one that is
/// smaller than a packet must not be lost for ever.
class Allowance {
 public:
  /// `packet`: the largest packet that is sent.
  explicit Allowance(Bytes packet = longest_packet) : packet_(packet) {}

  void grant(Bytes amount) { left_ = std::max(amount, Bytes(0)) + std::min(left_, packet_); }
  /// True, and spends it, when so many bytes may go now.
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

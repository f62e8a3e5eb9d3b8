#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::tcp {

/// Proportional rate reduction (RFC 6937). During recovery the sender sends bytes in proportion to the bytes delivered.
/// So the bytes in flight decrease evenly over a round trip, without a pause and a burst.
class RateReduction {
 public:
  void begin() { delivered_ = out_ = 0; }
  void sent(std::uint32_t bytes) { out_ += bytes; }

  /// Returns the bytes that may be sent after `delivered` more bytes have arrived. `share` is ssthresh / RecoverFS.
  /// `safe` is true if data was acknowledged in order and nothing more was lost. It matters only while at most ssthresh
  /// is in flight. The bytes in flight then grow as in slow start if `safe` is true (RFC 6937 section 3.1, PRR-SSRB).
  /// Otherwise only as many bytes as were delivered may be sent (PRR-CRB).
  [[nodiscard]] std::uint32_t allowed(std::uint32_t delivered, std::uint32_t pipe, std::uint32_t ssthresh, float share,
                                      std::uint32_t mss, bool safe) {
    delivered_ += delivered;
    if (pipe > ssthresh) {
      const auto due = static_cast<std::uint32_t>(static_cast<float>(delivered_) * share) + 1;
      return due > out_ ? due - out_ : 0;
    }
    const std::uint32_t conserved = delivered_ > out_ ? delivered_ - out_ : 0;
    return std::min(ssthresh - pipe, safe ? std::max(conserved, delivered) + mss : conserved);
  }

 private:
  std::uint32_t delivered_ = 0;  ///< bytes delivered to the peer in this recovery (prr_delivered)
  std::uint32_t out_ = 0;        ///< bytes sent in this recovery (prr_out)
};

}  // namespace sluice::tcp

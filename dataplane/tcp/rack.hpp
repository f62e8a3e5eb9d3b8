#pragma once

#include <cstdint>

#include "dataplane/packet/seq.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {

/// Time when a segment was sent, in a form that orders segments sent at the same instant (RACK_sent_after() of RFC 8985
/// section 6.2).
struct Transmission {
  std::uint32_t at = 0;  ///< send time, in ticks of 1.02 µs (tick::us)
  SeqNum end;            ///< sequence number after the segment's last byte

  /// Number, from 1 on, that orders the retransmissions of all segments within one tick; 0 if the segment was sent
  /// once.
  std::uint16_t copy = 0;

  friend constexpr bool operator<(const Transmission& a, const Transmission& b) {
    const auto later = static_cast<std::int32_t>(b.at - a.at);
    if (later != 0) return later > 0;
    return a.copy == 0 ? a.end < b.end : a.copy < b.copy;
  }
};

class DeliveryRate;

/// Data that one acknowledgement delivered, for RACK and PRR. Filled by the send queue.
struct Delivery {
  /// Estimator to which every delivered segment is reported; null if the connection takes no delivery-rate samples.
  DeliveryRate* rate = nullptr;
  std::uint32_t now = 0;  ///< time of the ACK, in ticks of 1.02 µs (tick::us)

  /// Minimum RTT, in ticks of 1.02 µs (tick::us). An ACK that arrives earlier than this after a retransmission
  /// acknowledges the original segment.
  std::uint32_t min_rtt = 0;
  /// Sequence number after the highest data known to be delivered before this acknowledgement.
  SeqNum fack;
  Transmission newest;  ///< transmission of the delivered segment that was sent last; valid if a segment was delivered
  std::uint32_t known = 0;  ///< bytes acknowledged now that were sacked before
  bool any = false;
  bool reordered = false;  ///< true if a segment sent once was delivered after one with a higher sequence number
  bool originals = false;  ///< true if timestamps prove that original segments were delivered, not retransmissions
};

/// Loss detection by time (RACK, RFC 8985). A segment is lost if one sent after it was delivered, and it has not
/// arrived within the round-trip time plus the reordering window. Used while a segment is missing.
class Rack {
 public:
  /// Number of duplicate ACKs or sacked packets that indicate a loss (DupThresh).
  static constexpr unsigned threshold = 3;

  /// Updates the newest delivery and its round-trip time (RFC 8985 section 6.2 step 2).
  void update(const Delivery& delivery);
  /// Discards the newest delivery. Called if nothing is missing any more. Also called after a spurious recovery,
  /// because RACK may have taken the original segment for its retransmission.
  void forget() { known_ = false; }

  /// True if a segment sent after `sent` has arrived.
  [[nodiscard]] bool overtaken(const Transmission& sent) const { return known_ && sent < newest_; }
  /// Returns how many ticks remain until a segment counts as lost; zero or less if it counts as lost already. Requires
  /// that overtaken(sent) is true. `now` and `window`, the reordering window, are in ticks of 1.02 µs (tick::us).
  [[nodiscard]] std::int32_t time_until_lost(const Transmission& sent, std::uint32_t now, std::uint32_t window) const {
    return static_cast<std::int32_t>(sent.at + rtt_ + window - now);
  }
  /// Returns the round-trip time of the newest delivery, in ticks of 1.02 µs (tick::us); zero if there is none.
  [[nodiscard]] std::uint32_t rtt() const { return known_ ? rtt_ : 0; }

 private:
  Transmission newest_;
  std::uint32_t rtt_ = 0;
  bool known_ = false;
};

/// Reordering window: how long RACK waits for a segment after one sent later was delivered (RFC 8985 section 6.2 step
/// 4). Adapts to the reordering that the connection has observed.
class ReorderingWindow {
 public:
  /// Returns the reordering window in ticks of 1.02 µs (tick::us). `sacked` is the number of sacked packets;
  /// `recovering` is true during loss recovery. The result is zero in recovery, and once three packets are sacked,
  /// unless reordering was observed before.
  [[nodiscard]] std::uint32_t ticks(std::uint32_t min_rtt, std::uint32_t srtt, unsigned sacked, bool recovering) const;

  /// Records observed reordering (RFC 8985 section 6.2 step 3).
  void update(const Delivery& delivery) {
    if (delivery.reordered) record_reordering();
  }
  void record_reordering() { seen_ = true; }
  [[nodiscard]] bool seen() const { return seen_; }

  /// Records the start of a recovery. D-SACKs can widen the reordering window once per recovery.
  void on_recovery() { widened_ = false; }
  /// Widens the reordering window after a D-SACK for a retransmission. The D-SACK shows that the original segment was
  /// not lost, but delayed by reordering for longer than this window.
  void on_duplicate();
  /// Records the end of a recovery. After sixteen successive recoveries without a D-SACK the reordering window returns
  /// to its initial size.
  void on_recovered();

 private:
  std::uint8_t quarters_ = 1;  ///< reordering window in quarters of the minimum round-trip time (reo_wnd_mult)
  std::uint8_t persist_ : 5 = 0;
  bool seen_ : 1 = false;
  bool widened_ : 1 = false;
};

}  // namespace sluice::tcp

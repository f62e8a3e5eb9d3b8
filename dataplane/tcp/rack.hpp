#pragma once

#include <cstdint>

#include "dataplane/tcp/seq.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {

/// When a segment was sent, comparable with others sent at the same instant (RFC 8985 section 6.2, RACK_sent_after).
///
/// A host answers all acknowledgements of a burst at one instant, so new data may leave before the copy of an older
/// segment with the same time. The sequence number orders only what was sent once. A copy counts as sent after all that
/// was sent once in its tick, and copies are in their own order.
struct Transmission {
  std::uint32_t at = 0;    ///< tick::micro
  SeqNum end;              ///< sequence number behind it
  std::uint16_t copy = 0;  ///< order among the copies of the same tick, from 1 on; 0: it was sent once

  friend constexpr bool operator<(const Transmission& a, const Transmission& b) {
    const auto later = static_cast<std::int32_t>(b.at - a.at);
    if (later != 0) return later > 0;
    return a.copy == 0 ? a.end < b.end : a.copy < b.copy;
  }
};

class DeliveryRate;

/// What one acknowledgement delivered, for what RACK and PRR make of it. Filled by the send queue.
struct Delivery {
  DeliveryRate* rate = nullptr;  ///< told of every segment delivered, where samples are taken
  std::uint32_t now = 0;         ///< tick::micro
  std::uint32_t min_rtt = 0;     ///< a copy acknowledged sooner than this was not what arrived; tick::micro
  SeqNum fack;                   ///< end of what was known to be delivered before this acknowledgement
  Transmission newest;           ///< of the segments delivered the one sent last; with any
  std::uint32_t known = 0;       ///< bytes acknowledged that had been sacked before
  bool any = false;
  bool reordered = false;  ///< a segment sent once arrived after one with a higher sequence number
  bool originals = false;  ///< timestamps show that it was not copies that arrived
};

/// Loss detection by time (RFC 8985): what was sent before something that arrived, and should have arrived as well by
/// now, is lost. State for as long as something is missing.
class Rack {
 public:
  static constexpr unsigned threshold = 3;  ///< DupThresh

  /// Step 2 of section 6.2.
  void update(const Delivery& delivery);
  /// The newest delivery is no longer to be compared with: nothing is missing, or it was a misjudged copy.
  void forget() { known_ = false; }

  /// Something sent after `sent` has arrived.
  [[nodiscard]] bool overtaken(const Transmission& sent) const { return known_ && sent < newest_; }
  /// Ticks until a segment that was overtaken is lost, given the reordering window; zero or less: it is.
  [[nodiscard]] std::int32_t patience(const Transmission& sent, std::uint32_t now, std::uint32_t window) const {
    return static_cast<std::int32_t>(sent.at + rtt_ + window - now);
  }
  /// The round-trip time of the newest delivery; zero when there is none. tick::micro.
  [[nodiscard]] std::uint32_t rtt() const { return known_ ? rtt_ : 0; }

 private:
  Transmission newest_;
  std::uint32_t rtt_ = 0;
  bool known_ = false;
};

/// How long a segment that was overtaken may still come (RFC 8985 section 6.2 step 4): what the connection has learned
/// of reordering on its path.
class ReorderingWindow {
 public:
  /// tick::micro.
  [[nodiscard]] std::uint32_t ticks(std::uint32_t min_rtt, std::uint32_t srtt, unsigned sacked, bool recovering) const;

  /// Step 3.
  void update(const Delivery& delivery) {
    if (delivery.reordered) note_reordering();
  }
  void note_reordering() { seen_ = true; }
  [[nodiscard]] bool seen() const { return seen_; }

  /// A recovery begins. Reports of duplicates widen the window once for each.
  void on_recovery() { widened_ = false; }
  /// The peer reported a duplicate of what a recovery repeated: the path reorders, and the window was too narrow.
  void on_duplicate();
  /// A recovery is over; the sixteenth in a row without a duplicate brings the narrow window back.
  void on_recovered();

 private:
  std::uint8_t quarters_ = 1;  ///< reo_wnd_mult: the window in quarters of the least round-trip time
  std::uint8_t persist_ : 5 = 0;
  bool seen_ : 1 = false;
  bool widened_ : 1 = false;
};

}  // namespace sluice::tcp

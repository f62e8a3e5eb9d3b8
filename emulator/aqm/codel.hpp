#pragma once

#include <cstdint>
#include <optional>

#include "emulator/aqm/ecn.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Parameters of CoDel (RFC 8289).
struct CodelParameters {
  Duration target = std::chrono::milliseconds(5);  ///< target delay of the standing queue, > 0

  /// Time for which the delay must stay above target before a packet is dropped; a worst-case round-trip time, > 0.
  Duration interval = std::chrono::milliseconds(100);
  /// Bytes that may be queued behind a packet without the packet being dropped, whatever its delay.
  Bytes max_packet{1514};
  bool ecn = false;  ///< true: ECN-capable packets are marked instead of dropped
};

/// CoDel's controller of one queue; names are those of RFC 8289. The proxy's class (proxy/engine/bearer/codel.hpp) is a
/// separate implementation, so that emulated networks with this class show faults of the proxy's class.
class CodelControl {
 public:
  /// Creates the controller. Throws std::invalid_argument if target or interval is not above 0.
  explicit CodelControl(const CodelParameters& parameters);

  /// Removes the next packet to be sent from the queue and returns it; empty if there is none. `pull()` removes the
  /// oldest packet and returns it as an optional of Queued or a derived type. `backlog()` returns the bytes that remain
  /// in the queue. `drop(packet)` is called for each dropped packet, and `mark()` for each packet that is marked
  /// instead.
  template <typename Pull, typename Backlog, typename Drop, typename Mark>
  auto dequeue(Instant now, Pull&& pull, Backlog&& backlog, Drop&& drop, Mark&& mark) -> decltype(pull()) {
    auto packet = pull();
    bool ok_to_drop = standing(address_of(packet), backlog(), now);
    if (dropping_) {
      if (!ok_to_drop) dropping_ = false;
      while (dropping_ && now >= drop_next_) {
        ++count_;
        if (notify(*packet, drop, mark)) {
          drop_next_ = control_law(drop_next_);
          break;
        }
        packet = pull();
        ok_to_drop = standing(address_of(packet), backlog(), now);
        if (ok_to_drop) {
          drop_next_ = control_law(drop_next_);
        } else {
          dropping_ = false;
        }
      }
    } else if (ok_to_drop) {
      if (!notify(*packet, drop, mark)) {
        packet = pull();
        static_cast<void>(standing(address_of(packet), backlog(), now));
      }
      begin_dropping(now);
    }
    return packet;
  }
  /// True in the dropping state of RFC 8289, in which a packet is dropped or marked at every drop time.
  [[nodiscard]] bool dropping() const { return dropping_; }

 private:
  template <typename Item>
  [[nodiscard]] static const Queued* address_of(const std::optional<Item>& packet) {
    return packet ? &*packet : nullptr;
  }
  /// Marks the packet and returns true if ECN is on and the packet is ECN-capable. Otherwise drops it and returns
  /// false.
  template <typename Item, typename Drop, typename Mark>
  bool notify(Item& packet, Drop& drop, Mark& mark) {
    if (parameters_.ecn && mark_congestion(packet.packet)) {
      mark();
      return true;
    }
    drop(packet);
    return false;
  }
  /// Implements dodequeue() of RFC 8289: true if the delay has been above target for CodelParameters::interval.
  /// `packet` is the oldest packet, null if the queue is empty. `backlog` is the number of bytes that remain in the
  /// queue behind it.
  bool standing(const Queued* packet, Bytes backlog, Instant now);
  /// Enters the dropping state.
  void begin_dropping(Instant now);
  /// Returns the time of the next drop: `from` plus interval / sqrt(count).
  [[nodiscard]] Instant control_law(Instant from) const;

  CodelParameters parameters_;
  /// Time from which on a packet may be dropped if the delay stays above target until then; empty while the delay is
  /// below target.
  std::optional<Instant> first_above_;
  bool dropping_ = false;  ///< true in the dropping state of RFC 8289, which lasts while the delay stays above target
  Instant drop_next_{};    ///< time of the next drop or mark in the dropping state
  /// Number of drops and marks from which control_law() computes the time of the next drop. If the last dropping state
  /// ended recently, a new one starts with the number of that state, otherwise with 1.
  std::uint32_t count_ = 0;
  std::uint32_t last_count_ = 0;  ///< value of `count_` when the latest dropping state began
};

/// A FIFO queue under CoDel (RFC 8289).
class CodelQueue final : public QueueDiscipline {
 public:
  CodelQueue(const QueueLimit& limit, const CodelParameters& parameters) : limit_(limit), control_(parameters) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  CodelControl control_;
  Ring<Queued> queue_;
  Bytes queue_bytes_;
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <optional>

#include "emulator/aqm/ecn.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

struct CodelParameters {
  Duration target = std::chrono::milliseconds(5);      ///< of the standing queue's delay, > 0
  Duration interval = std::chrono::milliseconds(100);  ///< a worst-case round trip, > 0
  Bytes max_packet{1514};                              ///< a queue of no more is never standing
  bool ecn = false;                                    ///< marks instead of dropping where it can
};

/// CoDel's control of one queue (RFC 8289, whose names these are).
class CodelControl {
 public:
  /// Throws std::invalid_argument when a time is not above 0.
  explicit CodelControl(const CodelParameters& parameters);

  /// The next packet to be sent. `pull()` takes the oldest (optional of a Queued or what derives from it), `backlog()`
  /// says how many bytes remain behind it, `drop(packet)` and `mark()` are told what becomes of packets.
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
  [[nodiscard]] bool dropping() const { return dropping_; }

 private:
  template <typename Item>
  [[nodiscard]] static const Queued* address_of(const std::optional<Item>& packet) {
    return packet ? &*packet : nullptr;
  }
  /// Marks (true: the packet stays) or drops.
  template <typename Item, typename Drop, typename Mark>
  bool notify(Item& packet, Drop& drop, Mark& mark) {
    if (parameters_.ecn && mark_congestion(packet.packet)) {
      mark();
      return true;
    }
    drop(packet);
    return false;
  }
  /// This is dodequeue(): whether the delay has been above target for an interval. `packet` is null when there was
  /// none.
  bool standing(const Queued* packet, Bytes backlog, Instant now);
  void begin_dropping(Instant now);
  [[nodiscard]] Instant control_law(Instant from) const;

  CodelParameters parameters_;
  std::optional<Instant> first_above_;
  bool dropping_ = false;
  Instant drop_next_{};
  std::uint32_t count_ = 0;
  std::uint32_t last_count_ = 0;
};

/// CoDel over one first-in-first-out queue (RFC 8289).
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

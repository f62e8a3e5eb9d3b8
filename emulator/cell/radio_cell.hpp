#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/cell/drop_reason.hpp"

namespace sluice::emulator {

/// A UE's number in its cell: 0, 1, 2 … in the order in which they were added.
using UeIndex = std::uint32_t;

/// Is told what happens in a cell's radio queues; for delays, logs and reports that are sent on sharp change.
class CellObserver {
 public:
  /// A packet of `length` IP bytes left the queue, `queueing` after it came. `packet` is on its way to the UE; with
  /// hybrid ARQ its last byte was sent for the first time.
  virtual void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) = 0;
  /// A packet will not reach the UE, unless its sender repeats it.
  virtual void on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) = 0;

 protected:
  ~CellObserver() = default;
};

/// What a UE's link could have carried, and what it did, in bytes on the air, cumulative; subtract two of them for the
/// time between.
struct LinkUse {
  std::uint64_t offered = 0;  ///< of a UE: had every TTI been its own
  std::uint64_t carried = 0;  ///< padding of frames included
  std::uint64_t ttis = 0;     ///< TTIs that have passed
  std::uint64_t airtime = 0;  ///< TTIs that this UE was given; with resource blocks, blocks of TTIs

  /// Part of the offered bytes that was carried, 0 … 1; 0 when nothing was offered.
  [[nodiscard]] double utilisation() const {
    return offered > 0 ? static_cast<double>(carried) / static_cast<double>(offered) : 0;
  }
  friend LinkUse operator-(const LinkUse& a, const LinkUse& b) {
    return {a.offered - b.offered, a.carried - b.carried, a.ttis - b.ttis, a.airtime - b.airtime};
  }
};

/// What waits in all downlink queues.
struct Backlog {
  Bytes air;                      ///< bytes on the air
  double frames = 0;              ///< the unit of the papers: radio frames where there are any, else packets
  std::uint64_t waiting = 0;      ///< queues in which something waits
  std::uint64_t short_heads = 0;  ///< of these, those that send a packet of a short flow next, as far as they tell

  /// One queue more.
  void add(Bytes queue_air, double queue_frames, bool short_head) {
    air += queue_air;
    frames += queue_frames;
    if (queue_frames <= 0) return;
    ++waiting;
    if (short_head) ++short_heads;
  }
  Backlog& operator+=(const Backlog& other) {
    air += other.air;
    frames += other.frames;
    waiting += other.waiting;
    short_heads += other.short_heads;
    return *this;
  }
  bool operator==(const Backlog&) const = default;
  Backlog& operator-=(const Backlog& other) {
    air -= other.air;
    frames -= other.frames;
    waiting -= other.waiting;
    short_heads -= other.short_heads;
    return *this;
  }
};

/// One UE at an instant, cumulative where it says so.
struct UeSnapshot {
  const char* state = "normal";
  std::uint32_t nodeb = 0;    ///< the Node-B it is with
  LinkUse use;                ///< cumulative
  Bytes queued;               ///< bytes on the air
  double queued_seconds = 0;  ///< the backlog integrated over time, cumulative
  // IP bytes and packets, cumulative. What one Node-B hands on to another arrives once: arrived_bytes counts it where
  // it came first.
  std::uint64_t arrived_bytes = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t lost_packets = 0;
  std::uint64_t forwarded_bytes = 0;  ///< handed on to other Node-Bs
  std::uint64_t forwarded_packets = 0;
};

/// What measurements need of a cell, whatever its radio.
class RadioCell {
 public:
  virtual void set_observer(CellObserver* observer) = 0;
  [[nodiscard]] virtual std::size_t ues() const = 0;
  [[nodiscard]] virtual const IpAddress& address(UeIndex ue) const = 0;
  /// Downlink queues: one per UE, or one that all share.
  [[nodiscard]] virtual std::size_t queues() const = 0;
  [[nodiscard]] virtual Backlog backlog() const = 0;
  /// Use of the air that all UEs share up to `now`, which never goes back.
  [[nodiscard]] virtual LinkUse use(Instant now) = 0;
  /// A UE up to `now`, which never goes back.
  [[nodiscard]] virtual UeSnapshot snapshot(UeIndex ue, Instant now) = 0;

 protected:
  ~RadioCell() = default;
};

}  // namespace sluice::emulator

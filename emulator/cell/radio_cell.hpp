#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/cell/drop_reason.hpp"

namespace sluice::emulator {

/// Number of a UE in its cell: 0, 1, 2 … in the order in which UEs were added.
using UeIndex = std::uint32_t;

/// Callbacks for departures and drops in a cell's radio queues, from which delays and drops are measured and logged.
class CellObserver {
 public:
  /// Called when a packet of `length` IP bytes has left the queue: its last byte was sent over the air for the first
  /// time. Later hybrid-ARQ transmissions cause no further call. `queueing` is the time since the packet arrived at the
  /// queue.
  virtual void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) = 0;
  /// Called when a packet of `length` IP bytes was dropped, or lost on the air for good. The radio link does not
  /// retransmit such a packet, so only the packet's sender can.
  virtual void on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) = 0;

 protected:
  ~CellObserver() = default;
};

/// Cumulative use of a link in bytes, with padding of radio frames: the bytes that it could have carried, and those
/// that it carried. The use in a period is the difference of the values at its end and at its start.
struct LinkUse {
  /// Bytes that the link could have carried. For the link of one UE, this counts all TTIs as if they were allocated to
  /// this UE.
  std::uint64_t offered = 0;
  std::uint64_t carried = 0;  ///< bytes carried, padding of frames included
  std::uint64_t ttis = 0;     ///< TTIs that have passed
  double airtime = 0;         ///< TTIs allocated to the UE; a resource block counts as its part of a TTI

  /// Returns the share of the offered bytes that was carried, 0 … 1; 0 if nothing was offered.
  [[nodiscard]] double utilisation() const {
    return offered > 0 ? static_cast<double>(carried) / static_cast<double>(offered) : 0;
  }
  friend LinkUse operator-(const LinkUse& a, const LinkUse& b) {
    return {a.offered - b.offered, a.carried - b.carried, a.ttis - b.ttis, a.airtime - b.airtime};
  }
};

/// Sum of the contents of a cell's downlink queues.
struct Backlog {
  Bytes air;                  ///< bytes not yet sent over the air, with padding to whole radio frames
  double frames = 0;          ///< number of radio frames, or of packets in queues that do not cut packets into frames
  std::uint64_t waiting = 0;  ///< number of queues that are not empty

  /// Number of queues whose next packet is of a short flow; queues that do not classify flows are not counted.
  std::uint64_t short_heads = 0;

  /// Adds the backlog of one queue: `queue_air` bytes with padding of radio frames, and `queue_frames` frames or
  /// packets. `short_head` is true if the next packet of this queue is of a short flow.
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

/// State of one UE at an instant.
struct UeSnapshot {
  const char* state = "normal";
  std::uint32_t nodeb = 0;    ///< number of the Node-B that the UE is at
  LinkUse use;                ///< cumulative use of the UE's link
  Bytes queued;               ///< bytes not yet sent over the air, with padding to whole radio frames
  double queued_seconds = 0;  ///< integral of the backlog over time in byte-seconds, cumulative

  // The following counters are cumulative, in IP bytes and packets. A packet forwarded between Node-Bs counts once in
  // arrived_bytes, at the Node-B that it reached first.
  std::uint64_t arrived_bytes = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t lost_packets = 0;
  std::uint64_t forwarded_bytes = 0;  ///< bytes forwarded to other Node-Bs
  std::uint64_t forwarded_packets = 0;
};

/// Interface of a cell for measurements, independent of the radio technology.
class RadioCell {
 public:
  virtual void set_observer(CellObserver* observer) = 0;
  [[nodiscard]] virtual std::size_t ues() const = 0;
  [[nodiscard]] virtual const IpAddress& address(UeIndex ue) const = 0;
  /// Returns the number of downlink queues: one per UE, or one that all UEs share.
  [[nodiscard]] virtual std::size_t queues() const = 0;
  /// Returns the sum of the contents of all downlink queues.
  [[nodiscard]] virtual Backlog backlog() const = 0;
  /// Returns how much the shared air could carry and has carried up to `now`. `now` must not decrease.
  [[nodiscard]] virtual LinkUse use(Instant now) = 0;
  /// Returns the state of a UE at `now`; `now` must not decrease.
  [[nodiscard]] virtual UeSnapshot snapshot(UeIndex ue, Instant now) = 0;

 protected:
  ~RadioCell() = default;
};

}  // namespace sluice::emulator

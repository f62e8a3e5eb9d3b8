#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// What a queue has counted since the start; cumulative. Bytes are IP bytes. At every moment arrived = transmitted +
/// dropped + (forwarded - recalled) + what is queued.
struct QueueCounters {
  std::uint64_t arrived_bytes = 0;  ///< that reached the queue, dropped ones included
  std::uint64_t arrived_packets = 0;
  std::uint64_t arrived_air = 0;          ///< the same in bytes on the air, padding of the last frame included
  std::uint64_t transmitted_bytes = 0;    ///< that left over the air, those of a packet in transit included
  std::uint64_t transmitted_packets = 0;  ///< that left whole
  std::uint64_t delivered_bytes = 0;      ///< that reached the UE: of whole packets
  std::uint64_t delivered_packets = 0;
  std::uint64_t dropped_bytes = 0;  ///< found no room, were evicted, given up unsent or dropped early
  std::uint64_t dropped_packets = 0;
  std::uint64_t early_packets = 0;   ///< of the dropped ones, those that active queue management chose
  std::uint64_t marked_packets = 0;  ///< told of congestion by it instead (ECN)
  std::uint64_t lost_bytes = 0;      ///< of packets that left and were lost on the air for good
  std::uint64_t lost_packets = 0;
  std::uint64_t forwarded_bytes = 0;  ///< handed on to another Node-B, whole packets
  std::uint64_t forwarded_packets = 0;
  std::uint64_t forwarded_air = 0;     ///< bytes on the air that this Node-B was spared by it
  std::uint64_t recalled_bytes = 0;    ///< of the forwarded bytes those that had been transmitted, in vain
  std::uint64_t taken_over_bytes = 0;  ///< of the bytes that arrived those that another Node-B had handed on
  std::uint64_t taken_over_packets = 0;
  std::uint64_t carried = 0;   ///< bytes on the air, padding of the last frame included
  std::uint64_t most_air = 0;  ///< the largest backlog, bytes on the air
  double air_seconds = 0;      ///< the backlog integrated over time; its difference over the time between is the mean
};

/// The sums of one radio queue: what it holds, what has come and gone, and what became of it. It keeps no packet;
/// whoever moves one says so here. `length` is in IP bytes, `air` in bytes on the air.
class QueueLedger {
 public:
  /// `frame`: the size of a radio frame; 0: there are none.
  explicit QueueLedger(Bytes frame) : frame_(frame) {}

  /// Adds `number` to `changed`, which outlives this, when what the queue holds changes, and not again before it was
  /// counted.
  void report_change_to(std::vector<std::uint32_t>& changed, std::uint32_t number) {
    changed_ = &changed;
    number_ = number;
  }
  void note_counted() { reported_ = false; }

  // What is said of every packet is here, not behind a call.
  /// A packet came, whatever becomes of it.
  void arrived(Bytes length, Bytes air) {
    ++counters_.arrived_packets;
    counters_.arrived_bytes += count(length);
    counters_.arrived_air += count(air);
  }
  /// The one that comes next was handed on by another Node-B.
  void taken_over(Bytes length);
  /// A packet is in the queue from now on.
  void entered(Bytes length, Bytes air, Instant now) {
    change(length, air, now);
    counters_.most_air = std::max(counters_.most_air, count(air_bytes_));
  }
  /// So much of what waits is not in the queue any more.
  void left(Bytes length, Bytes air, Instant now) { change(-length, -air, now); }
  /// So much of what left was sent over the air, and with it a whole packet's last byte or not.
  void transmitted(Bytes length) { counters_.transmitted_bytes += count(length); }
  void transmitted_packet() { ++counters_.transmitted_packets; }
  /// An opportunity used so many bytes on the air.
  void carried(Bytes air) { counters_.carried += count(air); }
  /// A packet was dropped, with so many bytes that had not been transmitted.
  void dropped(Bytes length);
  /// Active queue management dropped and marked so many packets.
  void intervened(std::uint64_t dropped, std::uint64_t marked) {
    counters_.early_packets += dropped;
    counters_.marked_packets += marked;
  }
  /// A packet that left has reached the UE.
  void delivered(Bytes length) {
    ++counters_.delivered_packets;
    counters_.delivered_bytes += count(length);
  }
  /// A packet that left is lost on the air and will not come again.
  void lost(Bytes length);
  /// A packet of `length` was handed on to another Node-B, which spared this one `air`. `unsent` of it had not been
  /// transmitted.
  void forwarded(Bytes length, Bytes unsent, Bytes air);

  /// IP bytes not yet transmitted.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Bytes on the air not yet transmitted: whole frames where there are frames.
  [[nodiscard]] Bytes air_bytes() const { return air_bytes_; }
  /// Frames not yet wholly transmitted; 0 where there are none.
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  [[nodiscard]] const QueueCounters& counters() const { return counters_; }
  /// The counters with the backlog integrated up to `now`.
  [[nodiscard]] QueueCounters counters(Instant now) const;

 private:
  static std::uint64_t count(Bytes bytes) { return static_cast<std::uint64_t>(bytes.count()); }
  void change(Bytes length, Bytes air, Instant now) {
    if (now != integrated_) integrate(now);  // often one packet comes in the instant in which another leaves
    if (!reported_) report();
    bytes_ += length;
    air_bytes_ += air;
    if (frame_ > Bytes(0)) count_frames();
  }
  /// Adds the backlog of the time before.
  void integrate(Instant now);
  void count_frames();
  void report();

  Bytes frame_;
  Bytes bytes_;
  Bytes air_bytes_;
  std::uint32_t frames_ = 0;  ///< of air_bytes_; asked for more often than it changes
  Instant integrated_{};
  std::vector<std::uint32_t>* changed_ = nullptr;  ///< where to say that what the queue holds changes; null: nowhere
  std::uint32_t number_ = 0;                       ///< with which it is said
  bool reported_ = false;                          ///< it was, and has not been counted since
  QueueCounters counters_;
};

}  // namespace sluice::emulator

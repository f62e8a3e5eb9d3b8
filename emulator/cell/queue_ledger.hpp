#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Cumulative counters of a queue, in IP bytes unless stated. At every moment arrived = transmitted + dropped +
/// (forwarded − recalled) + queued. Recalled packets were transmitted, but the UE had not received them when they were
/// forwarded to another Node-B.
struct QueueCounters {
  std::uint64_t arrived_bytes = 0;  ///< bytes that reached the queue, dropped ones included
  std::uint64_t arrived_packets = 0;
  std::uint64_t arrived_air = 0;          ///< bytes that reached the queue, with padding of radio frames
  std::uint64_t transmitted_bytes = 0;    ///< bytes sent over the air, including the sent part of the packet in transit
  std::uint64_t transmitted_packets = 0;  ///< packets transmitted completely
  std::uint64_t delivered_bytes = 0;      ///< bytes of complete packets that reached the UE
  std::uint64_t delivered_packets = 0;
  /// Bytes that a full queue refused or evicted, that AQM dropped, or that were discarded before they were sent.
  std::uint64_t dropped_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t early_packets = 0;   ///< number of packets that active queue management dropped
  std::uint64_t marked_packets = 0;  ///< packets that active queue management marked with ECN instead of dropping them
  std::uint64_t lost_bytes = 0;      ///< bytes of packets that left the queue and were permanently lost on the air
  std::uint64_t lost_packets = 0;
  std::uint64_t forwarded_bytes = 0;  ///< bytes of complete packets forwarded to another Node-B
  std::uint64_t forwarded_packets = 0;
  /// Bytes that this Node-B did not send, because their packets were forwarded to another Node-B. The padding to whole
  /// radio frames is included.
  std::uint64_t forwarded_air = 0;
  /// Bytes of forwarded packets that were transmitted here but not received by the UE.
  std::uint64_t recalled_bytes = 0;
  std::uint64_t taken_over_bytes = 0;  ///< bytes of arrived packets that another Node-B had forwarded
  std::uint64_t taken_over_packets = 0;
  std::uint64_t carried = 0;  ///< bytes transmitted, with padding of radio frames
  std::uint64_t max_air = 0;  ///< largest backlog so far in bytes, with padding of radio frames

  /// Integral of the backlog over time in byte-seconds, with padding of radio frames. The mean backlog between two
  /// times is the difference of the integrals divided by the time.
  double air_seconds = 0;
};

/// Counters and contents in bytes of one radio queue. This object contains no packets; the queue reports every arrival
/// and departure of a packet to it. Arguments `length` are in IP bytes. Arguments `air` are IP bytes with padding to
/// whole radio frames.
class QueueLedger {
 public:
  /// Creates an empty ledger. `frame` is the size of a radio frame in bytes; 0: packets are not cut into frames.
  explicit QueueLedger(Bytes frame) : frame_(frame) {}

  /// Registers the list `changed`, which contains the numbers of queues whose contents have changed. When the contents
  /// of this queue change, its `number` is appended. It is appended again only after record_counted(). BacklogSum reads
  /// the list to count only changed queues. The list must outlive this object.
  void report_change_to(std::vector<std::uint32_t>& changed, std::uint32_t number) {
    changed_ = &changed;
    number_ = number;
  }
  /// Records that the list of changed queues has been read and the last change of this queue is counted. The next
  /// change of the queue's contents then appends the queue's number to the list again.
  void record_counted() { reported_ = false; }

  // Functions that run for every packet are inline, because a call would cost more than their work.
  /// Counts an arriving packet, whether it is queued or dropped. `length` is its size in IP bytes, and `air` the size
  /// with padding to whole radio frames.
  void arrived(Bytes length, Bytes air) {
    ++counters_.arrived_packets;
    counters_.arrived_bytes += count(length);
    counters_.arrived_air += count(air);
  }
  /// Counts the next packet that arrives, of `length` IP bytes, as forwarded by another Node-B.
  void taken_over(Bytes length);
  /// Adds an accepted packet to the contents of the queue: `length` IP bytes, which are `air` bytes with padding of
  /// radio frames.
  void entered(Bytes length, Bytes air, Instant now) {
    change(length, air, now);
    counters_.max_air = std::max(counters_.max_air, count(air_bytes_));
  }
  /// Removes `length` IP bytes (`air` bytes with padding of radio frames) from the contents of the queue. They were
  /// transmitted, dropped or forwarded.
  void left(Bytes length, Bytes air, Instant now) { change(-length, -air, now); }
  /// Counts `length` IP bytes that were sent over the air.
  void transmitted(Bytes length) { counters_.transmitted_bytes += count(length); }
  /// Counts a packet whose last byte was sent over the air.
  void transmitted_packet() { ++counters_.transmitted_packets; }
  /// Counts the `air` bytes (with padding of radio frames) that a transmission opportunity used.
  void carried(Bytes air) { counters_.carried += count(air); }
  /// Counts a dropped packet; `length` covers only its bytes that had not been transmitted.
  void dropped(Bytes length);
  /// Counts packets that active queue management dropped and packets that it marked.
  void intervened(std::uint64_t dropped, std::uint64_t marked) {
    counters_.early_packets += dropped;
    counters_.marked_packets += marked;
  }
  /// Counts a packet of `length` IP bytes that left the queue and has reached the UE.
  void delivered(Bytes length) {
    ++counters_.delivered_packets;
    counters_.delivered_bytes += count(length);
  }
  /// Counts a packet of `length` IP bytes that left the queue and is permanently lost on the air.
  void lost(Bytes length);
  /// Counts a packet of `length` bytes that is forwarded to another Node-B. `unsent` is the number of its bytes that
  /// were not transmitted here. `air` is the number of bytes, with padding of radio frames, that this Node-B does not
  /// send, because it forwards the packet.
  void forwarded(Bytes length, Bytes unsent, Bytes air);

  /// Returns the queued IP bytes not yet transmitted.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Returns the bytes that the queue has yet to transmit on the air, with padding to whole frames.
  [[nodiscard]] Bytes air_bytes() const { return air_bytes_; }
  /// Returns the number of frames not yet completely transmitted; 0 if packets are not cut into frames.
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  [[nodiscard]] const QueueCounters& counters() const { return counters_; }
  /// Returns the counters, with the backlog integrated until `now`.
  [[nodiscard]] QueueCounters counters(Instant now) const;

 private:
  static std::uint64_t count(Bytes bytes) { return static_cast<std::uint64_t>(bytes.count()); }
  /// Changes the contents of the queue by `length` IP bytes and by `air` bytes with padding; both may be negative.
  void change(Bytes length, Bytes air, Instant now) {
    if (now != integrated_) integrate(now);  // common case: one packet arrives in the instant in which another leaves
    if (!reported_) report();
    bytes_ += length;
    air_bytes_ += air;
    if (frame_ > Bytes(0)) count_frames();
  }
  /// Adds to the integral of the backlog over time: the backlog times the time since its last change.
  void integrate(Instant now);
  /// Computes the number of queued frames from the queued bytes.
  void count_frames();
  /// Reports a change to the list registered with report_change_to().
  void report();

  Bytes frame_;               ///< size of a radio frame in bytes; 0: packets are not cut into frames
  Bytes bytes_;               ///< IP bytes queued and not yet transmitted
  Bytes air_bytes_;           ///< queued bytes not yet transmitted, with padding of radio frames
  std::uint32_t frames_ = 0;  ///< queued frames; cached because it is read more frequently than it changes
  Instant integrated_{};
  /// List to which the number of this queue is appended when the queue's contents change; null: none.
  std::vector<std::uint32_t>* changed_ = nullptr;
  std::uint32_t number_ = 0;  ///< number that identifies this queue in the list of changed queues
  /// True if the list of changed queues contains this queue and the change was not counted yet.
  bool reported_ = false;
  QueueCounters counters_;
};

}  // namespace sluice::emulator

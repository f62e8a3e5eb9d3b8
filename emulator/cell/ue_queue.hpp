#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

enum class BufferUnit : std::uint8_t { frames, bytes, packets };

struct QueueConfig {
  /// Radio frame (MAC-d PDU): a packet takes up whole frames, the last one padded. 0: no frames, packets are sent byte
  /// by byte.
  Bytes frame{40};
  BufferUnit unit = BufferUnit::frames;  ///< of `limit`
  /// Buffer size; 0 = unlimited. In frames, what is still to be sent of the packet in transit counts; in bytes and
  /// packets the packet in transit does not count (Mahimahi's rule).
  std::uint64_t limit = 200;
};

/// Cumulative since the start. Bytes are IP bytes. arrived = transmitted + dropped + what is queued, at every moment.
struct QueueCounters {
  std::uint64_t arrived_bytes = 0;  ///< that reached the queue, dropped ones included
  std::uint64_t arrived_packets = 0;
  std::uint64_t arrived_air = 0;          ///< the same in bytes on the air, padding of the last frame included
  std::uint64_t transmitted_bytes = 0;    ///< that left over the air, those of a packet in transit included
  std::uint64_t transmitted_packets = 0;  ///< that left whole
  std::uint64_t delivered_bytes = 0;      ///< that reached the UE: of whole packets
  std::uint64_t delivered_packets = 0;
  std::uint64_t dropped_bytes = 0;  ///< found no room, or given up unsent
  std::uint64_t dropped_packets = 0;
  std::uint64_t lost_bytes = 0;  ///< of packets that left and were lost on the air for good
  std::uint64_t lost_packets = 0;
  std::uint64_t carried = 0;  ///< bytes on the air, padding of the last frame included
};

/// A packet that has left the radio queue.
struct Departed {
  packet::Packet packet;
  Bytes length;         ///< IP bytes
  Bytes air;            ///< bytes on the air
  Instant enqueued{};   ///< when it came
  Duration queueing{};  ///< from coming to the departure of its last byte
};

/// One UE's radio queue: first in first out, drop tail, finite. The packet at its head may be partly transmitted.
class UeQueue {
 public:
  /// Throws std::invalid_argument when frames are the unit but `frame` is 0, or `frame` is negative.
  explicit UeQueue(const QueueConfig& config);

  /// Takes a packet of `length` IP bytes (>= 1); false when there was no room and it was dropped.
  bool push(packet::Packet packet, Bytes length, Instant now);
  /// Transmits up to `grant` bytes on the air of what came before `now` (strictly: a packet that comes in the instant
  /// of an opportunity misses it), and calls `depart(Departed)` for each packet whose last byte went. Returns the bytes
  /// used.
  template <typename Depart>
  Bytes serve(Bytes grant, Instant now, Depart&& depart) {
    Bytes left = grant;
    while (left > Bytes(0) && ready(now)) {
      left -= transmit(left);
      if (head_left_ == Bytes(0)) depart(take(now));
    }
    const Bytes used = grant - left;
    counters_.carried += static_cast<std::uint64_t>(used.count());
    return used;
  }

  /// Gives up the packets that a block of `grant` bytes on the air would have completed, calling `drop(length)` for
  /// each; one that it would only have begun or carried on stays. What the CLAMP paper does after the last attempt.
  template <typename Drop>
  void discard(Bytes grant, Instant now, Drop&& drop) {
    while (ready(now) && head_left_ <= grant) {
      grant -= head_left_;
      drop(drop_head());
    }
  }

  [[nodiscard]] bool empty() const { return packets_.empty(); }
  /// Something is there that came before `now`.
  [[nodiscard]] bool ready(Instant now) const { return !packets_.empty() && packets_.front().enqueued < now; }
  [[nodiscard]] std::size_t packets() const { return packets_.size(); }
  /// IP bytes not yet transmitted.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Bytes on the air not yet transmitted: whole frames where there are frames.
  [[nodiscard]] Bytes air_bytes() const { return air_bytes_; }
  /// Frames not yet wholly transmitted; 0 where there are none.
  [[nodiscard]] std::uint32_t frames() const;
  /// The size of the buffer in bytes on the air (frames times frame, bytes, or packets of 1500 bytes); 0 = unlimited.
  [[nodiscard]] Bytes buffer() const;
  [[nodiscard]] const QueueCounters& counters() const { return counters_; }
  /// A packet that left has reached the UE.
  void delivered(Bytes length) {
    ++counters_.delivered_packets;
    counters_.delivered_bytes += static_cast<std::uint64_t>(length.count());
  }
  /// A packet that left is lost on the air and will not come again.
  void lost(Bytes length) {
    ++counters_.lost_packets;
    counters_.lost_bytes += static_cast<std::uint64_t>(length.count());
  }
  [[nodiscard]] const QueueConfig& config() const { return config_; }

 private:
  struct Waiting {
    packet::Packet packet;
    Instant enqueued{};
    std::uint32_t length = 0;  ///< IP bytes
    std::uint32_t air = 0;     ///< bytes on the air
  };
  [[nodiscard]] Bytes on_air(Bytes length) const;
  [[nodiscard]] std::uint64_t used_buffer() const;  ///< in the unit
  [[nodiscard]] bool has_room(Bytes length) const;
  [[nodiscard]] Bytes head_bytes_left() const;  ///< IP bytes; padding goes last
  Bytes transmit(Bytes most);
  Departed take(Instant now);
  Bytes drop_head();  ///< returns its IP length

  QueueConfig config_;
  Ring<Waiting> packets_;
  Bytes head_left_;  ///< bytes on the air still to be sent of the head
  Bytes bytes_;
  Bytes air_bytes_;
  QueueCounters counters_;
};

}  // namespace sluice::emulator

#pragma once

#include <array>
#include <atomic>
#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proxy/capture/filter.hpp"

namespace sluice::capture {

/// What stands in front of the bytes of a frame in a tap.
struct FrameHeader {
  std::int64_t at = 0;         ///< nanoseconds of the shards' clock
  std::uint32_t length = 0;    ///< of the frame on the wire
  std::uint16_t captured = 0;  ///< of the bytes that follow
  std::uint8_t wire = 0;       ///< Wire::index()
  Decision decision = sent_own;
};

/// Frames of one interface so far.
struct WireCounts {
  std::uint64_t seen = 0;
  std::uint64_t wanted = 0;
  std::uint64_t lost = 0;  ///< of the wanted: found no room

  WireCounts& operator+=(const WireCounts& other) {
    seen += other.seen;
    wanted += other.wanted;
    lost += other.lost;
    return *this;
  }
};

/// Frames of one shard on their way to one capture: a ring of bytes with one writer, the shard's thread, and one
/// reader, the control thread. What finds no room is counted and lost; nobody waits.
class FrameTap {
 public:
  /// `room`: bytes of the ring, taken here. Throws std::bad_alloc.
  FrameTap(const Filter& filter, std::size_t room);

  /// Shard: whether the frame is wanted, as far as one can tell before it is dealt with. To be called once for each.
  [[nodiscard]] bool takes(const Frame& frame);
  [[nodiscard]] const Filter& filter() const { return filter_; }
  /// Shard: puts the beginning of a frame in, where what became of it is wanted.
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning);

  /// Reader: appends what there is, `most` bytes at most; a frame may come in parts.
  void take(std::vector<std::uint8_t>& out, std::size_t most);
  /// Reader: nothing is left to take.
  [[nodiscard]] bool empty() const { return ring_.read_available() == 0; }
  /// By Wire::index(). From any thread.
  [[nodiscard]] std::array<WireCounts, wire_count> counts() const;

 private:
  struct Count {
    std::atomic<std::uint64_t> seen{0};
    std::atomic<std::uint64_t> wanted{0};
    std::atomic<std::uint64_t> lost{0};
  };
  /// Only the shard writes.
  static void add_one(std::atomic<std::uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const Filter filter_;
  boost::lockfree::spsc_queue<std::uint8_t> ring_;
  std::array<Count, wire_count> counts_;
};

}  // namespace sluice::capture

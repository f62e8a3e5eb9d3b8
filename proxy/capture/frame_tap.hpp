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
#include "proxy/capture/frame_sink.hpp"

namespace sluice::capture {

/// Frames of one shard on their way to one capture: a ring of bytes with one writer, the shard's thread, and one
/// reader, the control thread. What finds no room is counted and lost; nobody waits.
class FrameTap final : public FrameSink {
 public:
  /// `room`: bytes of the ring, taken here. Throws std::bad_alloc.
  FrameTap(const Filter& filter, std::size_t room);

  [[nodiscard]] const Filter& filter() const { return filter_; }
  [[nodiscard]] bool takes(const Frame& frame) override;
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const override { return filter_.shown_bytes(frame); }
  /// Puts it in where what became of it is wanted.
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) override;

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

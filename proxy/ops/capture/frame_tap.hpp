#pragma once

#include <array>
#include <atomic>
#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proxy/ops/capture/filter.hpp"
#include "proxy/ops/capture/frame_sink.hpp"

namespace sluice::capture {

/// Ring that carries frames from one shard to one capture. The shard's thread writes it, and the control thread reads
/// it. If a frame does not fit, it is lost and counted, so that neither thread waits.
class FrameTap final : public FrameSink {
 public:
  /// Allocates a ring of `room` bytes. Throws std::bad_alloc.
  FrameTap(const Filter& filter, std::size_t room);

  [[nodiscard]] const Filter& filter() const { return filter_; }
  [[nodiscard]] bool takes(const Frame& frame) override;
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const override { return filter_.shown_bytes(frame); }
  /// Writes a frame to the ring if the filter selects FrameHeader::decision, the outcome of the frame. First the header
  /// `frame` is written, with the size of `beginning` as captured length, and then `beginning`. These are the first
  /// bytes of the frame, as many as the capture stores.
  void put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) override;

  /// Called by the reader. Moves available bytes, at most `most`, from the ring to the end of `out`. One frame may be
  /// split between two calls.
  void take(std::vector<std::uint8_t>& out, std::size_t most);
  /// True if the ring has no bytes to read. Called by the reader.
  [[nodiscard]] bool empty() const { return ring_.read_available() == 0; }
  /// Returns counts of frames for each side and direction, indexed by Wire::index(). Thread: any.
  [[nodiscard]] std::array<WireCounts, wire_count> counts() const;

 private:
  struct Count {
    std::atomic<std::uint64_t> seen{0};
    std::atomic<std::uint64_t> selected{0};
    std::atomic<std::uint64_t> lost{0};
  };
  /// Increments a counter by a separate load and store. Nothing is lost, because only the shard's thread writes the
  /// counter.
  static void add_one(std::atomic<std::uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const Filter filter_;
  boost::lockfree::spsc_queue<std::uint8_t> ring_;
  std::array<Count, wire_count> counts_;
};

}  // namespace sluice::capture

#include "proxy/ops/capture/frame_tap.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sluice::capture {

static_assert(std::is_trivially_copyable_v<FrameHeader> && sizeof(FrameHeader) == 16, "no padding that nobody wrote");

FrameTap::FrameTap(const Filter& filter, std::size_t room) : filter_(filter), ring_(room) {
  // Touches all pages now, so that the shard takes no page faults.
  const std::vector<std::uint8_t> zeros(room);
  ring_.push(zeros.data(), zeros.size());
  ring_.reset();
}

bool FrameTap::takes(const Frame& frame) {
  add_one(counts_[frame.wire.index()].seen);
  return filter_.takes(frame);
}

void FrameTap::put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) {
  if (!filter_.decisions.contains(frame.decision)) return;
  Count& count = counts_[frame.wire];
  add_one(count.selected);
  FrameHeader header = frame;
  header.captured = static_cast<std::uint16_t>(beginning.size());
  std::array<std::uint8_t, sizeof header> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  if (ring_.write_available() < bytes.size() + beginning.size()) return add_one(count.lost);
  ring_.push(bytes.data(), bytes.size());
  ring_.push(beginning.data(), beginning.size());
}

void FrameTap::take(std::vector<std::uint8_t>& out, std::size_t most) {
  const std::size_t before = out.size();
  const std::size_t count = std::min(most, ring_.read_available());
  out.resize(before + count);
  out.resize(before + ring_.pop(out.data() + before, count));
}

std::array<WireCounts, wire_count> FrameTap::counts() const {
  std::array<WireCounts, wire_count> copy;
  std::transform(counts_.begin(), counts_.end(), copy.begin(), [](const Count& count) {
    return WireCounts{count.seen.load(std::memory_order_relaxed), count.selected.load(std::memory_order_relaxed),
                      count.lost.load(std::memory_order_relaxed)};
  });
  return copy;
}

}  // namespace sluice::capture

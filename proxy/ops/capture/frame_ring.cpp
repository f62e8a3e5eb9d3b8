#include "proxy/ops/capture/frame_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sluice::capture {
namespace {

void set_number(std::byte* slot, std::uint64_t number) {
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(slot)).store(number, std::memory_order_release);
}

}  // namespace

FrameRing::FrameRing(std::span<std::byte> memory, std::uint32_t snap_length, bool payload)
    : memory_(memory), snap_length_(snap_length), payload_(payload) {}

bool FrameRing::takes(const Frame&) {
  return true;
}

std::size_t FrameRing::shown_bytes(const Frame& frame) const {
  return std::min<std::size_t>(payload_ ? frame.bytes.size() : header_bytes(frame), snap_length_);
}

void FrameRing::put(const FrameHeader& frame, std::span<const std::uint8_t> beginning) {
  std::byte* const slot = memory_.data() + next_;
  FrameHeader header = frame;
  header.captured = static_cast<std::uint16_t>(beginning.size());
  set_number(slot, 0);
  std::atomic_thread_fence(std::memory_order_release);  // the slot is marked empty before its contents change
  std::memcpy(slot + offsetof(SlotHeader, frame), &header, sizeof header);
  std::memcpy(slot + sizeof(SlotHeader), beginning.data(), beginning.size());
  set_number(slot, ++count_);
  next_ += slot_bytes_for(snap_length_);
  if (next_ == memory_.size()) next_ = 0;
}

}  // namespace sluice::capture

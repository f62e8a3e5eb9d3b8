#pragma once

#include <linux/if_packet.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

/// Transmit ring of a packet socket (PACKET_TX_RING, TPACKET_V2), which the driver net_af_packet fills and the kernel
/// empties. Decides when a frame that the interface refuses is dropped. Threads: the thread that transmits on the
/// socket calls drop_refused(); any thread may read dropped().
class TransmitRing {
 public:
  /// Uses `frames` slots of `frame_size` bytes that begin at `first`. The memory must outlive the ring.
  TransmitRing(std::byte* first, std::size_t frame_size, std::size_t frames)
      : first_(first), frame_size_(frame_size), frames_(frames) {}

  /// Finds the ring of a socket in this process's memory. `frame_size` and `frames` are the driver's arguments framesz
  /// and framecnt. Returns nothing if the mapped memory does not have the size that follows from them.
  [[nodiscard]] static std::optional<TransmitRing> find(int socket, std::size_t frame_size, std::size_t frames);

  TransmitRing(const TransmitRing& other) : TransmitRing(other.first_, other.frame_size_, other.frames_) {}
  TransmitRing& operator=(const TransmitRing&) = delete;

  /// Called when the kernel has refused the next frame (ENOBUFS). Returns true if the frame is now marked so that the
  /// kernel drops it in the next call of send(). A queue that is full accepts the frame after a moment, so a frame is
  /// dropped only if it is refused for the time `patience`. Some interfaces never accept long frames, such as a veth
  /// whose peer has a smaller MTU. After a drop, frames of at least that length are therefore dropped at once, for the
  /// time `memory`. There is no timer: a refused frame and those behind it wait at least until the next call.
  bool drop_refused(Instant now) noexcept;

  /// Returns the number of frames dropped.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  static constexpr Duration patience = std::chrono::milliseconds(5);
  static constexpr Duration memory = std::chrono::seconds(1);

 private:
  [[nodiscard]] tpacket2_hdr* header(std::size_t slot) const noexcept;
  [[nodiscard]] bool waits(std::size_t slot) const noexcept;
  [[nodiscard]] bool refused_before(std::size_t slot) const noexcept;
  [[nodiscard]] std::optional<std::size_t> next_frame() const noexcept;

  std::byte* first_;
  std::size_t frame_size_;
  std::size_t frames_;
  std::size_t refused_slot_ = 0;  ///< slot of the frame that was refused last
  /// Time at which the kernel first refused the frame in refused_slot_; `never` if no frame was refused.
  Instant refused_since_ = never;
  /// Length in bytes of the shortest frame that was dropped within the time `memory`; UINT32_MAX if none was.
  std::uint32_t shortest_dropped_ = UINT32_MAX;
  /// Time of the last drop of a frame that was refused for the time `patience`; `never` if there was none.
  Instant last_drop_ = never;
  std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace sluice::dpdk

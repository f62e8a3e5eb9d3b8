#pragma once

#include <span>
#include <vector>

#include "dataplane/dpdk/transmit_ring.hpp"

namespace sluice::dpdk {

/// Enables a workaround for the transmit rings of a port's packet sockets while it exists; linking it replaces the C
/// library's sendto() in the whole process. A frame that the kernel never accepts is dropped, so that the frames behind
/// it are sent.
///
/// The workaround is needed because the kernel leaves a refused frame at the head of the ring. The driver only calls
/// sendto() again, which the kernel refuses again. A veth refuses each frame that is longer than its peer's MTU.
/// Thread: the control thread constructs and destroys it, while no other thread uses the sockets.
class TransmitRings {
 public:
  /// Enables the workaround for `sockets`. `frame_size` and `frames` are the driver's arguments framesz and framecnt. A
  /// socket whose ring is not found keeps the kernel's behaviour.
  TransmitRings(std::span<const int> sockets, std::size_t frame_size, std::size_t frames);
  ~TransmitRings();
  TransmitRings(const TransmitRings&) = delete;
  TransmitRings& operator=(const TransmitRings&) = delete;

  /// Returns the number of sockets whose ring was found.
  [[nodiscard]] std::size_t size() const noexcept { return rings_.size(); }
  /// Returns the number of frames dropped from all rings.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

 private:
  std::vector<int> sockets_;
  /// Transmit rings that were found; never resized, because the replaced sendto() has pointers to them.
  std::vector<TransmitRing> rings_;
};

}  // namespace sluice::dpdk

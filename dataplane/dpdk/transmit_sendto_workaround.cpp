#include "dataplane/dpdk/transmit_sendto_workaround.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "dataplane/dpdk/clock.hpp"

namespace {

using sluice::dpdk::TransmitRing;

/// Transmit rings, indexed by the descriptor of their packet socket; null for descriptors without one. Descriptors
/// beyond the array keep the kernel's behaviour.
std::array<std::atomic<TransmitRing*>, 4096> ring_of{};

std::atomic<TransmitRing*>* entry(int descriptor) {
  if (descriptor < 0 || static_cast<std::size_t>(descriptor) >= ring_of.size()) return nullptr;
  return &ring_of[static_cast<std::size_t>(descriptor)];
}

/// Called when the kernel has refused a frame. Drops the frame if TransmitRing::drop_refused() permits it, and calls
/// send() for the frames behind it. Repeats this for each further frame that is refused. Returns the result of the last
/// call.
[[gnu::cold]] ssize_t send_without_refused_frames(int descriptor, int flags) {
  constexpr int most = 128;  // bounds the time in one call; a burst has at most 64 frames
  std::atomic<TransmitRing*>* const at = entry(descriptor);
  TransmitRing* const ring = at == nullptr ? nullptr : at->load(std::memory_order_acquire);
  for (int i = 0; ring != nullptr && i < most && ring->drop_refused(sluice::dpdk::now()); ++i) {
    const ssize_t sent = syscall(SYS_sendto, descriptor, nullptr, 0, flags, nullptr, 0);
    if (sent >= 0 || errno != ENOBUFS) return sent;
  }
  errno = ENOBUFS;
  return -1;
}

}  // namespace

namespace sluice::dpdk {

TransmitRings::TransmitRings(std::span<const int> sockets, std::size_t frame_size, std::size_t frames) {
  rings_.reserve(sockets.size());
  for (const int socket : sockets) {
    const std::optional<TransmitRing> ring = TransmitRing::find(socket, frame_size, frames);
    std::atomic<TransmitRing*>* const at = entry(socket);
    if (!ring || at == nullptr) continue;
    rings_.push_back(*ring);
    sockets_.push_back(socket);
    at->store(&rings_.back(), std::memory_order_release);
  }
}

TransmitRings::~TransmitRings() {
  for (const int socket : sockets_) entry(socket)->store(nullptr, std::memory_order_release);
}

std::uint64_t TransmitRings::dropped() const noexcept {
  std::uint64_t sum = 0;
  for (const TransmitRing& ring : rings_) sum += ring.dropped();
  return sum;
}

}  // namespace sluice::dpdk

// Replaces the C library's sendto() in the whole process, because a program's own definition takes precedence. The
// driver calls it without data to make the kernel send the frames of its ring. All other calls go to the kernel
// unchanged.
extern "C" ssize_t sendto(int descriptor, const void* data, size_t length, int flags, const sockaddr* address,
                          socklen_t address_length) {
  const ssize_t sent = syscall(SYS_sendto, descriptor, data, length, flags, address, address_length);
  if (sent >= 0 || errno != ENOBUFS || data != nullptr) [[likely]]
    return sent;
  return send_without_refused_frames(descriptor, flags);
}

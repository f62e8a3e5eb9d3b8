// Removes frames that an interface never accepts from the transmit ring of a packet socket. Called by the replaced
// sendto() (transmit_sendto_workaround.cpp), only after the kernel has refused a frame. Invariant: the frames that wait
// for the kernel are in consecutive slots, and the kernel sends the first one next (tpacket_snd() of Linux). After a
// refusal it leaves the frame at the head of the ring and sends it again in the next call.

#include "dataplane/dpdk/transmit_ring.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace sluice::dpdk {
namespace {

/// drop_refused() writes this value to tp_snaplen of a frame that the kernel has refused. The kernel does not read that
/// field when it sends. The driver stores the frame's length there, so a new frame in the slot has no mark.
constexpr std::uint32_t refused_mark = 0;
/// Value of tp_len that no interface can send: too short for an Ethernet header. The kernel drops such a frame without
/// a message, because the driver sets PACKET_LOSS. A length above the MTU would cause an error message of the kernel.
constexpr std::uint32_t unsendable = 0;

struct Mapping {
  std::byte* first = nullptr;
  std::size_t size = 0;
};

/// Returns the memory that this process maps from a socket. Returns an empty mapping if there is none.
Mapping mapping_of(int socket) {
  struct stat status {};
  if (fstat(socket, &status) != 0) return {};
  const std::string name = "socket:[" + std::to_string(status.st_ino) + "]";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (!line.ends_with(name) || std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2 || end < begin) continue;
    return {reinterpret_cast<std::byte*>(begin), end - begin};
  }
  return {};
}

}  // namespace

std::optional<TransmitRing> TransmitRing::find(int socket, std::size_t frame_size, std::size_t frames) {
  const Mapping mapping = mapping_of(socket);
  const std::size_t size = frame_size * frames;
  // The driver maps the receive ring and the transmit ring, which have the same size, in this order.
  if (size == 0 || frame_size < sizeof(tpacket2_hdr) || mapping.size != 2 * size) return std::nullopt;
  return TransmitRing(mapping.first + size, frame_size, frames);
}

tpacket2_hdr* TransmitRing::header(std::size_t slot) const noexcept {
  return reinterpret_cast<tpacket2_hdr*>(first_ + slot * frame_size_);
}

/// True if the frame in the slot waits for the kernel to send it.
bool TransmitRing::waits(std::size_t slot) const noexcept {
  return std::atomic_ref(header(slot)->tp_status).load(std::memory_order_acquire) == TP_STATUS_SEND_REQUEST;
}

/// True if the slot still has the frame that was refused last.
bool TransmitRing::refused_before(std::size_t slot) const noexcept {
  return refused_since_ != never && slot == refused_slot_ && waits(slot) && header(slot)->tp_snaplen == refused_mark;
}

/// Returns the slot of the frame that the kernel sends next. Returns nothing if no frame waits, or if all slots wait
/// and it is unknown which one is the first.
std::optional<std::size_t> TransmitRing::next_frame() const noexcept {
  if (refused_before(refused_slot_)) return refused_slot_;
  for (std::size_t i = 0; i < frames_; ++i) {
    const std::size_t slot = (refused_slot_ + i) % frames_;
    if (waits(slot) && !waits((slot + frames_ - 1) % frames_)) return slot;
  }
  return std::nullopt;
}

bool TransmitRing::drop_refused(Instant now) noexcept {
  const std::optional<std::size_t> slot = next_frame();
  if (!slot) {
    refused_since_ = never;
    return false;
  }
  tpacket2_hdr& frame = *header(*slot);
  if (!refused_before(*slot)) {
    refused_slot_ = *slot;
    refused_since_ = now;
    frame.tp_snaplen = refused_mark;
  }
  if (last_drop_ == never || now - last_drop_ > memory) shortest_dropped_ = UINT32_MAX;
  const bool waited = now - refused_since_ >= patience;
  if (!waited && frame.tp_len < shortest_dropped_) return false;
  shortest_dropped_ = std::min(shortest_dropped_, frame.tp_len);
  if (waited) last_drop_ = now;  // else a queue that is full at times would renew the memory
  frame.tp_len = unsendable;
  dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

}  // namespace sluice::dpdk

#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/ooo_tree.hpp"
#include "dataplane/tcp/sack_generator.hpp"

namespace sluice::tcp {

/// Out-of-order segments of one connection, and the SACK blocks that report them.
///
/// Contiguous bytes form a run: a chain of packets, linked by PacketNote::next. The metadata of the first packet also
/// points to the last one (PacketNote::scratch64_c). Between two runs bytes are missing. The first packets of all runs
/// form a tree. So storing a segment takes O(log n) steps with n holes, wherever the segment lies.
///
/// The memory used is in proportion to the bytes stored, even if segments are small or holes are many. Data that fits
/// into the buffer of an adjoining packet is copied there. So two consecutive packets of a run together contain more
/// than Limits::joined bytes. At most 64 runs (max_thin) are shorter than 256 bytes (thin). A segment that would begin
/// a further one is dropped, unless it replaces runs that it covers.
class Reassembly {
 public:
  /// Limits of the memory that the out-of-order data of a connection may use.
  struct Limits {
    std::uint32_t packets = capacity;  ///< largest number of packets stored, at most `capacity`
    std::uint32_t joined = 1460;       ///< largest payload of a buffer, in bytes, to which several segments are joined
  };
  static constexpr std::uint32_t capacity = UINT16_MAX;  ///< largest number of packets stored

  /// Number of packets that may be stored even if the offered window is small.
  static constexpr std::uint32_t min_stored_packets = 4096;
  static constexpr std::uint32_t thin = 256;  ///< length in bytes below which a run (contiguous bytes) counts as thin
  /// Largest number of thin runs, that is, of runs shorter than `thin` bytes.
  static constexpr std::uint8_t max_thin = 64;

  Reassembly() = default;
  ~Reassembly() { clear(); }
  Reassembly(const Reassembly&) = delete;
  Reassembly& operator=(const Reassembly&) = delete;

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Returns the number of packet buffers held.
  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// Returns when the first packet of the lowest run (contiguous out-of-order bytes) arrived (note().received); `never`
  /// if no packet is held.
  [[nodiscard]] Instant waits_since() const { return empty() ? never : runs_.first().note().received; }

  /// Stores an out-of-order packet. note().seq, payload_len and payload_sum must be set, and seq must lie beyond
  /// RCV.NXT. The packet contains only payload and has no other reference. Only bytes that are still missing are
  /// stored. Bytes that arrived earlier are kept, unless the new packet covers their whole run. The run and duplicate
  /// bytes are recorded for the SACK blocks. Returns false if the packet is dropped because of a limit.
  bool insert(packet::Packet packet, const Limits& limits);
  /// Moves the packets of the run (contiguous bytes) that contains `rcv_nxt` to `out`, cut to begin at `rcv_nxt`. Runs
  /// that end before `rcv_nxt` are dropped.
  void take(SeqNum rcv_nxt, packet::Queue& out);
  /// Fills `out` with the sequence ranges of runs (contiguous out-of-order bytes), in order, and returns their number.
  /// Starts at `from`, or at the first run if `from` is empty. Sets `from` to the next run, or to empty after the last
  /// one.
  std::uint8_t runs(packet::Cursor& from, std::span<SackBlock> out) const;
  void clear();

  [[nodiscard]] SackGenerator& sack_generator() { return sack_generator_; }
  [[nodiscard]] const SackGenerator& sack_generator() const { return sack_generator_; }

 private:
  [[nodiscard]] bool has_space(std::uint32_t length, bool of_its_own, const Limits& limits) const;
  bool join(packet::Cursor run, packet::Cursor following, const packet::Packet& packet, std::uint32_t joined);
  void chain(packet::Cursor run, packet::Cursor following, packet::Packet packet);
  void unite(packet::Cursor run, packet::Cursor following, std::uint32_t joined);
  bool drop_covered(SeqNum from, SeqNum stop);
  void drop(packet::Cursor run);
  void take_out(packet::Cursor run);
  void recount(std::uint32_t before, std::uint32_t after);

  OooTree runs_;
  [[no_unique_address]] SackGenerator sack_generator_;
  /// Number of runs shorter than 256 bytes (thin). The member stands here because it fits into the padding of the
  /// member before it.
  std::uint8_t thin_ = 0;
  std::uint16_t count_ = 0;  ///< packets held
};

/// Removes `count` bytes from the front of the payload and updates the packet's metadata (PacketNote). Requires count <
/// payload_len, a packet that holds only payload, and no other reference to it.
void trim_payload_front(packet::Packet& packet, std::uint32_t count);
/// Reduces the payload to its first `length` bytes and updates the packet's metadata (PacketNote). Requires 0 < length
/// <= payload_len, a packet that holds only payload, and no other reference to it.
void truncate_payload(packet::Packet& packet, std::uint32_t length);

}  // namespace sluice::tcp

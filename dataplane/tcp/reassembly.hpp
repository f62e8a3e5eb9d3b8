#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/sack_report.hpp"
#include "dataplane/tcp/segment.hpp"

namespace sluice::tcp {

/// Segments that came before their turn: packets sorted by sequence number, without overlap, and the report about them.
/// The first packet of a run of adjacent ones knows the last (PacketNote::scratch64_b), so that a walk takes steps per
/// hole, not per packet.
class Reassembly {
 public:
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  /// Packets held.
  [[nodiscard]] std::uint32_t count() const { return count_; }

  static constexpr std::uint32_t capacity = UINT16_MAX;  ///< packets

  /// When the first packet came in (note().received); never when none is held.
  [[nodiscard]] Instant waits_since() const { return empty() ? never : packets_.front().note().received; }

  /// Takes `packet` (count() < capacity, note().seq and payload_len set, beginning beyond RCV.NXT), cut to what is
  /// missing: bytes that arrived first stay, unless it covers their whole packet. Notes the run, and the bytes that
  /// came twice, for the report.
  void insert(packet::Packet packet);
  /// The next packet when it begins at or before `rcv_nxt`, cut to begin there; else an empty handle. Those that end
  /// before it are dropped.
  [[nodiscard]] packet::Packet take(SeqNum rcv_nxt);
  /// Fills `out` with the runs from `from` on (nothing: from the first), in order; returns how many, and leaves `from`
  /// behind them (nothing: that was all).
  std::uint8_t runs(packet::Cursor& from, std::span<SackBlock> out) const;
  void clear();

  [[nodiscard]] SackReport& report() { return report_; }
  [[nodiscard]] const SackReport& report() const { return report_; }

 private:
  struct Place {
    packet::Cursor run;     ///< first packet of the last run that begins at or before the new one; nothing when none
    packet::Cursor before;  ///< the packet to insert behind; nothing for the front
  };
  [[nodiscard]] Place find(SeqNum seq) const;
  void drop_covered(packet::Cursor before, SeqNum stop);

  packet::Queue packets_;
  [[no_unique_address]] SackReport report_;
  std::uint16_t count_ = 0;  ///< in the report's padding
};

/// Takes `count` bytes off the front of the packet's payload; its note follows. Requires count < payload_len; the
/// packet holds nothing but payload and nobody else has it.
void trim_payload_front(packet::Packet& packet, std::uint32_t count);
/// Cuts the payload down to its first `length` bytes. Requires 0 < length <= payload_len, and the same.
void truncate_payload(packet::Packet& packet, std::uint32_t length);

}  // namespace sluice::tcp

#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/run_tree.hpp"
#include "dataplane/tcp/sack_report.hpp"
#include "dataplane/tcp/segment.hpp"

namespace sluice::tcp {

/// Segments that came before their turn, and the report about them.
///
/// Bytes without a hole between them are a run: a chain of packets (PacketNote::next) whose first note knows the last
/// (scratch64_c). Runs do not touch, and are found in a tree of their first packets: a segment costs steps in the
/// logarithm of the holes, wherever it falls.
///
/// Memory: what fits into a neighbour's buffer is copied there, so two packets of a run that follow each other hold
/// more than Limits::joined bytes together; and at most `most_thin` runs are shorter than `thin` bytes. So buffers
/// are in proportion to bytes, however small the segments and however many the holes.
class Reassembly {
 public:
  /// What the connection allows.
  struct Limits {
    std::uint32_t packets = capacity;  ///< held, at most `capacity`
    std::uint32_t joined = 1460;       ///< bytes of a packet that several segments share; what one can be sent with
  };
  static constexpr std::uint32_t capacity = UINT16_MAX;  ///< packets
  static constexpr std::uint32_t always_held = 4096;     ///< packets, however small the window offered
  static constexpr std::uint32_t thin = 256;             ///< bytes
  static constexpr std::uint8_t most_thin = 64;          ///< runs

  Reassembly() = default;
  ~Reassembly() { clear(); }
  Reassembly(const Reassembly&) = delete;
  Reassembly& operator=(const Reassembly&) = delete;

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Buffers held.
  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// When the first packet in order came in (note().received); never when none is held.
  [[nodiscard]] Instant waits_since() const { return empty() ? never : runs_.first().note().received; }

  /// Takes `packet` (note().seq, payload_len and payload_sum set, beginning beyond RCV.NXT, nothing but payload, held
  /// by nobody else), cut to what is missing: bytes that arrived first stay, unless it covers their whole run. Notes
  /// the run, and the bytes that came twice, for the report. False when it is not kept, for want of room.
  bool insert(packet::Packet packet, const Limits& limits);
  /// Appends to `out` the run that `rcv_nxt` has reached, cut to begin there. Runs that end before it are dropped.
  void take(SeqNum rcv_nxt, packet::Queue& out);
  /// Fills `out` with the runs from `from` on (nothing: from the first), in order; returns how many, and leaves `from`
  /// behind them (nothing: that was all).
  std::uint8_t runs(packet::Cursor& from, std::span<SackBlock> out) const;
  void clear();

  [[nodiscard]] SackReport& report() { return report_; }
  [[nodiscard]] const SackReport& report() const { return report_; }

 private:
  [[nodiscard]] bool has_room(std::uint32_t length, bool of_its_own, const Limits& limits) const;
  bool join(packet::Cursor run, packet::Cursor following, const packet::Packet& packet, std::uint32_t joined);
  void chain(packet::Cursor run, packet::Cursor following, packet::Packet packet);
  void unite(packet::Cursor run, packet::Cursor following, std::uint32_t joined);
  bool drop_covered(SeqNum from, SeqNum stop);
  void drop(packet::Cursor run);
  void take_out(packet::Cursor run);
  void recount(std::uint32_t before, std::uint32_t after);

  RunTree runs_;
  [[no_unique_address]] SackReport report_;
  std::uint8_t thin_ = 0;    ///< runs shorter than `thin`; in the report's padding, as is the next
  std::uint16_t count_ = 0;  ///< packets
};

/// Takes `count` bytes off the front of the packet's payload; its note follows. Requires count < payload_len; the
/// packet holds nothing but payload and nobody else has it.
void trim_payload_front(packet::Packet& packet, std::uint32_t count);
/// Cuts the payload down to its first `length` bytes. Requires 0 < length <= payload_len, and the same.
void truncate_payload(packet::Packet& packet, std::uint32_t length);

}  // namespace sluice::tcp

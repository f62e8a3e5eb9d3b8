#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/queue.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/codel.hpp"

namespace sluice::proxy {

/// Properties of a queued packet that the queue needs without parsing it again.
struct QueuedPacket {
  std::uint32_t slot = 0;      ///< keyed hash of the 5-tuple, which selects the flow's queue (slot)
  std::uint16_t bytes = 0;     ///< length of the IP packet
  std::uint8_t ip_offset = 0;  ///< offset of the IP header in the frame
  bool keep = false;           ///< true for a packet that CoDel does not drop, such as one of a handshake
  std::uint16_t reason = 0;    ///< index of the counter under which the owner counts the packet when it is sent
};

/// Packets to one UE that wait, with a queue for each flow. Deficit round robin serves the flows, those that send
/// little before the others. CoDel limits how long a packet waits (FQ-CoDel, RFC 8290). Packets of one flow never
/// overtake each other. A keyed hash assigns each flow to one of `slots` queues; two flows may share one. Work is
/// constant per packet. Thread: its shard's.
class FlowQueue {
 public:
  static constexpr std::size_t slots = 32;

  /// Result of pop().
  struct Popped {
    packet::Packet packet;
    QueuedPacket about;
    bool dropped = false;  ///< true if the packet must not be sent, because CoDel drops it
    bool marked = false;   ///< true if the packet got a CE mark
  };

  [[nodiscard]] bool empty() const { return packets_ == 0; }
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  /// Returns the IP bytes of all queued packets.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Returns the number of flows with queued packets.
  [[nodiscard]] std::uint32_t flows() const { return flows_; }

  /// Appends a packet to the queue of its flow.
  void push(packet::Packet&& packet, const QueuedPacket& about, Instant now);
  /// Returns the IP bytes of the packet that pop() returns next. Requires !empty().
  [[nodiscard]] Bytes next_bytes();
  /// True if the packet that pop() returns next belongs to a flow that has sent less than its share. Requires !empty().
  [[nodiscard]] bool next_is_sparse();
  /// Removes and returns the next packet, which CoDel may drop or mark. Requires !empty().
  [[nodiscard]] Popped pop(const CodelParameters& parameters, Instant now);
  /// Returns the IP bytes that wait in the queue (slot) to which packet `about` belongs.
  [[nodiscard]] Bytes bytes_of(const QueuedPacket& about) const { return Bytes(flow_[about.slot % slots].bytes); }
  /// True if CoDel must not drop the oldest packet in the queue to which `about` belongs (QueuedPacket::keep). Requires
  /// that bytes wait in that queue.
  [[nodiscard]] bool head_is_kept(const QueuedPacket& about) const;
  /// Drops the oldest packet of the queue to which packet `about` belongs. Requires that bytes wait in that queue.
  void drop_oldest(const QueuedPacket& about);
  /// Removes the next packet in the round-robin order of the flows, without CoDel's test of its delay. Requires
  /// !empty().
  [[nodiscard]] Popped pop_untested();

 private:
  /// FIFO of slots (queues of one flow each), by number; each slot is in it at most once.
  class SlotList {
   public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::uint8_t front() const { return at_[head_]; }
    void push(std::uint8_t slot) { at_[(head_ + count_++) % slots] = slot; }
    void pop() {
      head_ = static_cast<std::uint8_t>((head_ + 1) % slots);
      --count_;
    }

   private:
    std::array<std::uint8_t, slots> at_{};
    std::uint8_t head_ = 0;
    std::uint8_t count_ = 0;
  };
  /// Queue of one flow.
  struct Flow {
    packet::Queue packets;
    Codel codel;
    std::int32_t deficit = 0;  ///< bytes that the flow may still send in this round of deficit round robin
    std::uint32_t bytes = 0;   ///< IP bytes queued
    bool listed = false;       ///< true if the slot of this flow is in one of the lists
  };

  /// Rotates the lists of slots until the first slot may send within its round, and returns that slot. Requires
  /// !empty().
  std::uint8_t select();
  /// Removes and returns the oldest packet of a slot (queue of one flow).
  [[nodiscard]] Popped take(std::uint8_t slot);

  std::array<Flow, slots> flow_;
  SlotList new_;  ///< slots of flows that have sent less than a quantum since they became active
  SlotList old_;
  std::uint32_t packets_ = 0;
  std::uint32_t flows_ = 0;
  Bytes bytes_;
};

}  // namespace sluice::proxy

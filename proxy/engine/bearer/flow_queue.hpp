#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/queue.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/codel.hpp"

namespace sluice::proxy {

/// Properties of a packet that are stored when the packet is queued, so that it need not be parsed again.
struct QueuedPacket {
  /// keyed hash of the 5-tuple; modulo FlowQueue::slots it selects the FIFO of the packet's flow
  std::uint32_t slot = 0;
  std::uint16_t bytes = 0;     ///< length of the IP packet
  std::uint8_t ip_offset = 0;  ///< offset of the IP header in the frame
  bool keep = false;  ///< true if CoDel must not drop the packet, for example because it belongs to a handshake
  /// index of the forward_* counter that counts the packet when it is sent
  std::uint16_t reason = 0;
};

/// Queue of packets to one UE, with a FIFO for each flow (FQ-CoDel, RFC 8290). Deficit round robin serves the flows;
/// sparse flows, which send little, come first. CoDel limits how long a packet waits. Packets of one flow are never
/// reordered. A keyed hash maps each flow to one of `slots` FIFOs, so two flows may share one. Work per packet is
/// constant. Thread: the shard's.
class FlowQueue {
 public:
  static constexpr std::size_t slots = 32;

  /// Result of pop().
  struct Popped {
    packet::Packet packet;
    QueuedPacket about;
    bool dropped = false;  ///< true if CoDel drops the packet, so that it must not be sent
    bool marked = false;   ///< true if the packet got a CE mark, because it waited too long
  };

  [[nodiscard]] bool empty() const { return packets_ == 0; }
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  /// Returns the IP bytes of all queued packets.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Returns the number of flows with queued packets.
  [[nodiscard]] std::uint32_t flows() const { return flows_; }
  /// Holds back the packets of one FIFO until release(): pop() takes only packets of the other FIFOs. `slot` is
  /// QueuedPacket::slot of a packet of the flow. At most one FIFO is held back.
  void hold(std::uint32_t slot);
  /// Ends the effect of hold(), so that pop() takes packets of every FIFO again.
  void release();
  /// Returns the number of flows with queued packets that are not held back.
  [[nodiscard]] std::uint32_t ready_flows() const {
    return flows_ - (held_ != none && !flow_[held_].packets.empty() ? 1U : 0U);
  }
  /// True if packets are queued that are not held back, so that pop() may be called.
  [[nodiscard]] bool any_ready() const { return ready_flows() > 0; }

  /// Appends a packet to the FIFO of its flow. `about` describes the packet.
  void push(packet::Packet&& packet, const QueuedPacket& about, Instant now);
  /// Returns the length, in IP bytes, of the packet that the next pop() returns. Requires any_ready().
  [[nodiscard]] Bytes next_bytes();
  /// True if the packet that the next pop() returns belongs to a sparse flow, a new flow of RFC 8290. Such a flow has
  /// sent less than a quantum (1500 bytes) since it became active, or since it became sparse again. Requires
  /// any_ready().
  [[nodiscard]] bool next_is_sparse();
  /// Returns the number of the FIFO, below `slots`, from which the next pop() takes a packet. Requires any_ready().
  [[nodiscard]] std::uint32_t next_slot() { return select(); }
  /// Removes and returns the next packet. The result also states whether CoDel drops or marks the packet. Requires
  /// any_ready().
  [[nodiscard]] Popped pop(const CodelParameters& parameters, Instant now);
  /// Returns the number of IP bytes of one flow that wait in its FIFO. `about` describes any packet of the flow.
  [[nodiscard]] Bytes bytes_of(const QueuedPacket& about) const { return Bytes(flow_[about.slot % slots].bytes); }
  /// True if CoDel must not drop the oldest waiting packet of a flow. `about` describes any packet of that flow. The
  /// flow must have waiting packets.
  [[nodiscard]] bool must_keep_head(const QueuedPacket& about) const;
  /// Drops the oldest waiting packet of a flow. `about` describes any packet of that flow. The flow must have waiting
  /// packets.
  void drop_oldest(const QueuedPacket& about);
  /// Removes and returns the packet that the round robin selects next. CoDel does not test the packet. Requires
  /// any_ready().
  [[nodiscard]] Popped pop_untested();

 private:
  /// FIFO of slot numbers. A slot is the queue of one flow; its number is in the list at most once.
  class SlotList {
   public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::uint8_t front() const { return at_[head_]; }
    void push(std::uint8_t slot) { at_[(head_ + count_++) % slots] = slot; }
    /// Removes a slot, if it is in the list. The order of the others stays.
    void remove(std::uint8_t slot) {
      for (std::uint8_t left = count_; left > 0; --left) {
        const std::uint8_t first = front();
        pop();
        if (first != slot) push(first);
      }
    }
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
    /// bytes that the flow may still send before the deficit round robin serves the next flow
    std::int32_t deficit = 0;
    std::uint32_t bytes = 0;  ///< IP bytes queued
    Instant new_since{};      ///< time at which the slot was last put into new_
    bool listed = false;      ///< true if the number of this flow's slot is in new_ or old_; false while held back
  };

  /// Rotates the lists of slots (FIFOs of flows) until the first slot has packets and may still send bytes in its
  /// round. Returns that slot. Requires any_ready().
  std::uint8_t select();
  /// Removes a slot from the list that contains it. A slot is the queue of one flow.
  void unlist(std::uint8_t slot);
  [[nodiscard]] bool may_renew(Instant now);
  /// Removes and returns the oldest packet in a slot, the queue of one flow.
  [[nodiscard]] Popped take(std::uint8_t slot);

  static constexpr std::uint8_t none = slots;

  std::array<Flow, slots> flow_;
  /// Slots of sparse flows (new flows of RFC 8290), which are served before the slots in `old_`. Such a flow has sent
  /// less than a quantum (1500 bytes) since `new_since`.
  SlotList new_;
  SlotList old_;
  std::uint8_t held_ = none;  ///< slot of the flow that hold() holds back, so that pop() skips it; `none`: no flow
  std::uint32_t packets_ = 0;
  std::uint32_t flows_ = 0;
  Bytes bytes_;
  Instant renewals_since_{};   ///< start of the interval in which `renewals_` are counted
  std::uint8_t renewals_ = 0;  ///< number of slots that became sparse again in this interval
};

}  // namespace sluice::proxy

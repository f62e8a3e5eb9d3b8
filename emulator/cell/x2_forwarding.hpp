#pragma once

#include <cstdint>
#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Cumulative counters of the forwarding at one Node-B, for all UEs.
struct HandoverCounters {
  std::uint64_t held_packets = 0;  ///< packets of the new path that waited for the end of the old path
  std::uint64_t timeouts = 0;      ///< end markers that did not arrive in time
};

/// Interface of a Node-B towards the core and the other Node-Bs. It handles packets for UEs that come and go, as an LTE
/// handover does (TS 36.300 section 10.1.2).
///
/// At a handover, the old Node-B forwards the queued packets and the packets that still arrive on the old path. Without
/// forwarding, the old Node-B drops all these packets. Forwarding ends with the end marker, which the core sends as the
/// last packet on the old path. The new Node-B sends forwarded packets first; packets of the new path wait there for
/// the end marker.
///
/// All Node-Bs use the same numbers for UEs. Frames that are for no UE pass to the cell. Thread: the event loop's.
class X2Forwarding final : public Element, public EventTarget {
 public:
  /// Time after the path switch at which a missing end marker counts as lost.
  static constexpr Duration marker_timeout = std::chrono::milliseconds(200);
  /// Maximum number of packets of one UE that wait for the end marker.
  static constexpr std::size_t max_held = 4096;

  /// Creates the forwarding of `cell`, whose UEs must be added before. `loop` and `cell` must outlive it.
  X2Forwarding(EventLoop& loop, Cell& cell);

  /// Receives a packet or an end marker from the core.
  void receive(packet::Packet packet, Instant now) override;
  /// Returns the element that receives packets forwarded by other Node-Bs.
  [[nodiscard]] Element& neighbours() { return neighbours_; }

  // The steps of handover number `handover` of a UE follow; numbers begin at 1.
  /// Starts the handover with the number `handover` (which the end marker carries) at this Node-B, the source. The UE
  /// leaves, and its packets are forwarded to `onwards`; if that is null, they are dropped.
  void leave(UeIndex ue, std::uint32_t handover, Element* onwards, Instant now);
  /// Prepares this Node-B, the target, for the UE's handover number `handover`. If `forwarded` is true, packets of the
  /// new path wait until the packets that the old Node-B forwards have arrived.
  void expect(UeIndex ue, std::uint32_t handover, bool forwarded);
  /// Starts the timer for the end marker of the UE's handover number `handover`; call it at both Node-Bs when the core
  /// switches to the new path.
  void path_switched(UeIndex ue, std::uint32_t handover, Instant now);
  /// Handles the timeout of an end marker. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] const HandoverCounters& counters() const { return counters_; }
  /// Returns the number of packets of a UE that wait for the end marker.
  [[nodiscard]] std::size_t held(UeIndex ue) const { return forwardings_[ue].held.size(); }

 private:
  /// Receives packets that other Node-Bs have forwarded, and passes them to X2Forwarding.
  class Neighbours final : public Element {
   public:
    explicit Neighbours(X2Forwarding& port) : port_(port) {}
    void receive(packet::Packet packet, Instant now) override { port_.on_forwarded(std::move(packet), now); }

   private:
    X2Forwarding& port_;
  };
  /// A packet that waits for the end marker.
  struct Held {
    packet::Packet packet;
    Bytes length;  ///< IP bytes
  };
  /// Forwarding state of one UE.
  struct UeForwarding {
    bool left = false;  ///< true if the UE is at another Node-B or on its way there
    /// True after the UE left this Node-B, until the core sends no more packets for the UE here. The end marker or its
    /// timeout shows that.
    bool draining = false;
    bool holding = false;  ///< true while packets of the new path wait for the packets that the old Node-B forwards

    /// Element to which the UE's packets have been sent since the UE last left this Node-B. If null, these packets are
    /// dropped.
    Element* onwards = nullptr;
    std::uint32_t left_by = 0;        ///< number of the handover in which the UE last left this Node-B
    std::uint32_t last_handover = 0;  ///< number of the handover in which the UE last came to this Node-B
    Ring<Held> held;
  };
  void on_forwarded(packet::Packet packet, Instant now);
  /// Handles a packet of `length` IP bytes for a UE that left this Node-B: sends it to UeForwarding::onwards, or drops
  /// it if that is null.
  void follow(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  /// Keeps a packet of the new path (`length` IP bytes) until the end marker arrives. Drops it if `max_held` packets of
  /// the UE wait already.
  void hold(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  /// Sends the waiting packets of the new path to the cell.
  void release(UeIndex ue, Instant now);
  /// Handles the end marker of handover number `handover` from the core: the old path has ended. The marker is sent on
  /// to the new Node-B after the forwarded packets.
  void old_path_ends(packet::Packet frame, UeIndex ue, std::uint32_t handover, Instant now);

  EventLoop& loop_;
  Cell& cell_;
  Neighbours neighbours_{*this};
  std::vector<UeForwarding> forwardings_;  ///< forwarding states by UE
  HandoverCounters counters_;
};

}  // namespace sluice::emulator

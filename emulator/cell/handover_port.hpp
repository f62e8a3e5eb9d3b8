#pragma once

#include <cstdint>
#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// What a port has done for all UEs; cumulative.
struct HandoverCounters {
  std::uint64_t held_packets = 0;  ///< came by the new path before the last of the old one
  std::uint64_t timeouts = 0;      ///< end markers that did not come in time
};

/// The wired side of a Node-B among several: what becomes of packets for UEs that come and go, as in the handover of
/// LTE (3GPP TS 36.300 section 10.1.2). A Node-B that a UE leaves hands on to the next one what waits and what still
/// comes by the old path, until the end marker that the core sends behind it; or it drops that (without forwarding).
/// The Node-B that the UE goes to sends what is handed on first: what comes by the new path meanwhile waits for the end
/// marker. All Node-Bs number UEs alike. Frames that are for no UE of the cell pass. Thread: the loop's.
class HandoverPort final : public Element, public EventTarget {
 public:
  /// An end marker that has not come so long after the path was switched was lost.
  static constexpr Duration marker_timeout = std::chrono::milliseconds(200);
  /// Packets of one UE that may wait for it.
  static constexpr std::size_t most_held = 4096;

  /// `loop` and `cell` outlive it. Add the cell's UEs first.
  HandoverPort(EventLoop& loop, Cell& cell);

  /// Takes what comes from the core.
  void receive(packet::Packet packet, Instant now) override;
  /// Where other Node-Bs hand on to.
  [[nodiscard]] Element& neighbours() { return neighbours_; }

  // The steps of handover number `handover` of a UE, which begins at 1.
  /// Here, where it was: it leaves, and everything for it follows to `onwards`; null: is dropped.
  void leave(UeIndex ue, std::uint32_t handover, Element* onwards, Instant now);
  /// Where it goes to: it will come. `forwarded`: packets from its old Node-B come first.
  void expect(UeIndex ue, std::uint32_t handover, bool forwarded);
  /// At both, when the core sends by the new path and the end marker is on the old one.
  void path_switched(UeIndex ue, std::uint32_t handover, Instant now);
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] const HandoverCounters& counters() const { return counters_; }
  /// Packets of a UE that wait for the end marker.
  [[nodiscard]] std::size_t held(UeIndex ue) const { return passages_[ue].held.size(); }

 private:
  class Neighbours final : public Element {
   public:
    explicit Neighbours(HandoverPort& port) : port_(port) {}
    void receive(packet::Packet packet, Instant now) override { port_.from_neighbour(std::move(packet), now); }

   private:
    HandoverPort& port_;
  };
  struct Held {
    packet::Packet packet;
    Bytes length;  ///< IP bytes
  };
  /// How a UE's packets pass.
  struct Passage {
    bool left = false;           ///< it is elsewhere, or on its way there
    bool draining = false;       ///< the old path that led here has not come to its end
    bool holding = false;        ///< the old path that led elsewhere has not
    Element* onwards = nullptr;  ///< where to, when it left last; null: nothing is forwarded
    std::uint32_t left_by = 0;   ///< number of the handover by which it left, or came, last
    std::uint32_t came_by = 0;
    Ring<Held> held;
  };
  void from_neighbour(packet::Packet packet, Instant now);
  void follow(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  void hold(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  void release(UeIndex ue, Instant now);
  void old_path_ends(packet::Packet frame, UeIndex ue, std::uint32_t handover, Instant now);

  EventLoop& loop_;
  Cell& cell_;
  Neighbours neighbours_{*this};
  std::vector<Passage> passages_;
  HandoverCounters counters_;
};

}  // namespace sluice::emulator

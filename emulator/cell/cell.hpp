#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/units/ip_address.hpp"
#include "emulator/cell/backlog_sum.hpp"
#include "emulator/cell/downlink.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/sectors.hpp"
#include "emulator/cell/tti_clock.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Callback for each packet that enters a radio queue. The Node-B uses it to compute the price of the control law
/// CLAMP: a measure of congestion from which senders' windows are computed.
class ArrivalObserver {
 public:
  /// Called when a packet for `ue` has entered the UE's radio queue; the queue already contains the packet.
  virtual void on_arrival(UeIndex ue, Instant now) = 0;

 protected:
  ~ArrivalObserver() = default;
};

/// Callback that is called when a UE comes from another Node-B or goes to another Node-B.
class PresenceObserver {
 public:
  /// Called when the Node-B starts to serve the UE (`here` true) or stops serving it (`here` false).
  virtual void on_presence(UeIndex ue, bool here, Instant now) = 0;

 protected:
  ~PresenceObserver() = default;
};

/// Cumulative counters of packets that are addressed to no UE of the cell.
struct CellCounters {
  /// Packets to an address that no UE of this cell has, or whose UE has left the network. These packets are sent to the
  /// default route, if there is one.
  std::uint64_t unknown_destination = 0;
  std::uint64_t not_ip = 0;  ///< frames that are not IP; these are sent to the default route, if there is one

  /// Frames for unknown addresses or not IP that were dropped, because there is no default route.
  std::uint64_t dropped_no_route = 0;
};

/// Radio part of a Node-B. It has a queue and a channel for each UE, and a scheduler that allocates each TTI, or its
/// resource blocks, to UEs. Packets for the UEs enter by receive() and leave towards the UEs.
///
/// A Node-B may have several sectors (cells), each with a scheduler of its own. A UE belongs to one sector and may be
/// moved to another. While a UE is at another Node-B, its channel in this cell must carry nothing, and its packets wait
/// until it returns. TTIs in which no packet waits are skipped. This makes the program faster and does not change the
/// results.
///
/// This class finds the UE of each frame by its destination address and passes the frame to the Downlink of this UE.
/// TtiClock runs the TTIs, and Sectors allocates them. Thread: the event loop's.
class Cell final : public RadioCell, public Element, private TtiUser {
 public:
  /// Creates a cell without UEs. `tti` must be above 0: 1 ms for traces and LTE, 2 ms for HSDPA. `loop` and
  /// `towards_ue` must outlive the cell.
  Cell(EventLoop& loop, Duration tti, std::unique_ptr<Scheduler> scheduler, Element& towards_ue,
       CellResources resources = {});

  /// Adds a sector and returns its number: 1, 2 … Call it before the first add_ue(). All schedulers must be of one
  /// kind, because every sector passes the same kinds of data to its scheduler. Idle UEs and channel qualities are
  /// passed in all sectors or in none.
  std::uint32_t add_sector(std::unique_ptr<Scheduler> scheduler);
  /// Adds a UE; call it before the first packet. Throws std::invalid_argument if its address is taken, its sector does
  /// not exist or it has no channel.
  UeIndex add_ue(UeConfig config);
  /// Gives a UE a further address, for instance IPv6 besides IPv4. Throws std::invalid_argument if the address is
  /// taken.
  void add_address(UeIndex ue, const IpAddress& address);
  /// Moves a UE to another sector of this Node-B; its queued packets move with it.
  void move(UeIndex ue, std::uint32_t sector);
  /// Queues a packet that another Node-B has forwarded. Its UE is at this Node-B already, or on its way here. `length`
  /// is the packet's size in IP bytes.
  void take_over(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  /// Starts to serve a UE that has come from another Node-B: sets its state to normal and clears the flag that
  /// set_losing() sets.
  void attach(UeIndex ue, Instant now);
  /// Stops serving the UE, which has gone to another Node-B.
  void detach(UeIndex ue, Instant now);
  /// True if this Node-B serves the UE.
  [[nodiscard]] bool here(UeIndex ue) const { return ues_[ue].here; }
  /// Records that packets for the UE are lost until it is attached again, because its handover forwards no packets. The
  /// UE's reports then contain the allowance 0: the proxy may send no bytes to it.
  void set_losing(UeIndex ue) { ues_[ue].losing = true; }
  [[nodiscard]] bool losing(UeIndex ue) const { return ues_[ue].losing; }
  /// Sets the radio state of a UE, which the reports contain. In state released the UE has left, so packets for it are
  /// sent to the default route.
  void set_state(UeIndex ue, control::feedback::RadioState state);
  [[nodiscard]] control::feedback::RadioState state(UeIndex ue) const { return ues_[ue].state; }
  [[nodiscard]] std::uint32_t sector(UeIndex ue) const { return ues_[ue].sector; }
  /// Sets the element that receives frames for no UE of this cell; if null, these frames are dropped.
  void set_default_route(Element* route) { default_route_ = route; }
  void set_observer(CellObserver* observer) override;
  void set_arrival_observer(ArrivalObserver* observer) { arrivals_ = observer; }
  void set_presence_observer(PresenceObserver* observer) { presence_ = observer; }

  /// Puts a downlink frame into the queue of the UE that it is addressed to.
  void receive(packet::Packet packet, Instant now) override;

  [[nodiscard]] std::size_t ues() const override { return ues_.size(); }
  [[nodiscard]] std::size_t queues() const override { return ues_.size(); }
  /// Returns the sum of the backlogs of all downlink queues.
  [[nodiscard]] Backlog backlog() const override;
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;
  [[nodiscard]] const UeQueue& queue(UeIndex ue) const { return ues_[ue].downlink->queue(); }
  /// Returns the downlink path of one UE; calls to it affect that UE only.
  [[nodiscard]] Downlink& downlink(UeIndex ue) { return *ues_[ue].downlink; }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return ues_[ue].address; }
  /// Returns the hybrid ARQ and RLC of a UE; null if it has none.
  [[nodiscard]] const AirLink* air(UeIndex ue) const { return ues_[ue].downlink->air(); }
  /// Returns the UE that has this address as its first or as a further one; empty if no UE of this cell has it.
  [[nodiscard]] std::optional<UeIndex> find(const IpAddress& address) const;
  /// Returns how much one UE's link could carry and has carried in the TTIs that began before `now`. `now` must not
  /// decrease.
  [[nodiscard]] LinkUse use(UeIndex ue, Instant now) { return sectors_.use(ue, now); }
  /// Returns how much the shared air could carry and has carried in the TTIs that began before `now` (see SharedAir).
  [[nodiscard]] LinkUse use(Instant now) override { return sectors_.use(now); }
  /// Returns the number of attached UEs whose queue is not empty.
  [[nodiscard]] std::uint32_t active_users() const;
  [[nodiscard]] const CellCounters& counters() const { return counters_; }
  [[nodiscard]] const TtiCounters& tti_counters() const { return sectors_.counters(); }

 private:
  std::uint64_t run_tti(std::uint64_t tti, Instant now) override;
  /// Sends a packet to the default route, or drops it if there is none.
  void forward_unknown(packet::Packet packet, Instant now);
  /// Puts a packet of `length` IP bytes into a UE's queue and notifies the arrival observer.
  void enqueue(UeIndex index, packet::Packet&& packet, Bytes length, Instant now);

  EventLoop& loop_;
  Element& towards_ue_;
  std::vector<CellUe> ues_;
  std::unordered_map<IpAddress, UeIndex> by_address_;
  TtiClock clock_;
  Sectors sectors_;
  Element* default_route_ = nullptr;
  CellObserver* observer_ = nullptr;
  ArrivalObserver* arrivals_ = nullptr;
  PresenceObserver* presence_ = nullptr;
  CellCounters counters_;
  mutable BacklogSum backlog_;  ///< sum of all queues' backlogs; mutable because reading it counts the changed queues
};

}  // namespace sluice::emulator

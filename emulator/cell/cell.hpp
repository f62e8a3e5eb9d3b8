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

/// Is told of every packet that enters a radio queue; for what the Node-B measures at arrivals.
class ArrivalObserver {
 public:
  /// The queue holds it already.
  virtual void on_arrival(UeIndex ue, Instant now) = 0;

 protected:
  ~ArrivalObserver() = default;
};

/// Is told of UEs that come to a Node-B from another one, or have gone to one.
class PresenceObserver {
 public:
  /// `here`: the Node-B serves the UE from `now` on; else no longer.
  virtual void on_presence(UeIndex ue, bool here, Instant now) = 0;

 protected:
  ~PresenceObserver() = default;
};

struct CellCounters {
  std::uint64_t unknown_destination = 0;  ///< packets to nobody in this cell: forwarded by the default route, if any
  std::uint64_t not_ip = 0;               ///< frames that are not IP: same
  std::uint64_t dropped_no_route = 0;     ///< of these two, dropped because there is no default route
};

/// The radio half of a Node-B: per-UE queues, per-UE channels and a scheduler that gives each TTI to one UE, or its
/// resource blocks to several. A Node-B may have several sectors (cells), each with a scheduler and TTIs of its own; a
/// UE is in one of them and may be moved. A UE may also be with another Node-B: then it is not here, its channel must
/// be silent, and what comes for it waits until it is. Packets for its UEs come in by receive() and leave towards the
/// UEs. TTIs in which nothing waits are passed over, which changes nothing but the time a run takes.
///
/// It knows who is where and where frames go. When TTIs run is TtiClock's, to whom they go Sectors', and what happens
/// on the way to one UE Downlink's.
class Cell final : public RadioCell, public Element, private TtiUser {
 public:
  /// `tti` > 0: 1 ms for traces and LTE, 2 ms for HSDPA. `loop`, `towards_ue` outlive the cell.
  Cell(EventLoop& loop, Duration tti, std::unique_ptr<Scheduler> scheduler, Element& towards_ue,
       CellResources resources = {});

  /// Adds a sector; before the first UE. All schedulers must be of one kind. Returns its number: 1, 2 …
  std::uint32_t add_sector(std::unique_ptr<Scheduler> scheduler);
  /// Adds a UE; before the first packet. Throws std::invalid_argument when its address is taken or it has no channel.
  UeIndex add_ue(UeConfig config);
  /// Gives a UE one more address (it has IPv4 and IPv6, say). Throws as add_ue.
  void add_address(UeIndex ue, const IpAddress& address);
  /// Hands a UE over to another sector; what waits for it goes along.
  void move(UeIndex ue, std::uint32_t sector);
  /// A packet that another Node-B has handed on, for a UE that is here or comes.
  void take_over(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  /// The UE has come from another Node-B; it has gone to one. What TTIs without a user would have carried is the mean
  /// of the links of the UEs that are here.
  void attach(UeIndex ue, Instant now);
  void detach(UeIndex ue, Instant now);
  [[nodiscard]] bool here(UeIndex ue) const { return ues_[ue].here; }
  /// What comes for the UE is lost until it is attached again: it is on its way to another Node-B that nothing is
  /// forwarded to.
  void set_losing(UeIndex ue) { ues_[ue].losing = true; }
  [[nodiscard]] bool losing(UeIndex ue) const { return ues_[ue].losing; }
  /// What the reports say of a UE's radio. A released one has left: its packets go the default route.
  void set_state(UeIndex ue, control::feedback::RadioState state);
  [[nodiscard]] control::feedback::RadioState state(UeIndex ue) const { return ues_[ue].state; }
  [[nodiscard]] std::uint32_t sector(UeIndex ue) const { return ues_[ue].sector; }
  /// Where frames go that are not for a UE of this cell; null drops them.
  void set_default_route(Element* route) { default_route_ = route; }
  void set_observer(CellObserver* observer) override;
  void set_arrival_observer(ArrivalObserver* observer) { arrivals_ = observer; }
  void set_presence_observer(PresenceObserver* observer) { presence_ = observer; }

  /// A downlink frame: into the queue of the UE it is addressed to.
  void receive(packet::Packet packet, Instant now) override;

  [[nodiscard]] std::size_t ues() const override { return ues_.size(); }
  [[nodiscard]] std::size_t queues() const override { return ues_.size(); }
  [[nodiscard]] Backlog backlog() const override;
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;
  [[nodiscard]] const UeQueue& queue(UeIndex ue) const { return ues_[ue].downlink->queue(); }
  /// The way down to a UE: what is said to it there holds for that UE alone.
  [[nodiscard]] Downlink& downlink(UeIndex ue) { return *ues_[ue].downlink; }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return ues_[ue].address; }
  /// Hybrid ARQ and RLC of a UE; null when it has none.
  [[nodiscard]] const AirLink* air(UeIndex ue) const { return ues_[ue].downlink->air(); }
  /// The UE that has this address, be it its first or another; nothing when it is not in this cell.
  [[nodiscard]] std::optional<UeIndex> find(const IpAddress& address) const;
  /// Use of a UE's link by TTIs that began before `now`. `now` never goes back.
  [[nodiscard]] LinkUse use(UeIndex ue, Instant now) { return ues_[ue].downlink->use(now); }
  /// Use of the air that all UEs share, likewise (SharedAir).
  [[nodiscard]] LinkUse use(Instant now) override { return sectors_.use(now); }
  /// UEs that are here with something in their queue.
  [[nodiscard]] std::uint32_t active_users() const;
  [[nodiscard]] const CellCounters& counters() const { return counters_; }
  [[nodiscard]] const TtiCounters& tti_counters() const { return sectors_.counters(); }

 private:
  std::uint64_t run_tti(std::uint64_t tti, Instant now) override;
  void forward_unknown(packet::Packet packet, Instant now);
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
  mutable BacklogSum backlog_;  ///< adds up when it is asked
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "emulator/cell/air_link.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// Told of every packet that enters a radio queue; for what the Node-B measures at arrivals.
class ArrivalObserver {
 public:
  /// The queue holds it already.
  virtual void on_arrival(UeIndex ue, Instant now) = 0;

 protected:
  ~ArrivalObserver() = default;
};

/// Told of UEs that come to a Node-B from another one, or have gone to one.
class PresenceObserver {
 public:
  /// `here`: the Node-B serves the UE from `now` on; else no longer.
  virtual void on_presence(UeIndex ue, bool here, Instant now) = 0;

 protected:
  ~PresenceObserver() = default;
};

struct UeConfig {
  IpAddress address;
  QueueConfig queue;
  std::unique_ptr<Channel> channel;  ///< made for the cell's TTI
  Element* towards_ue = nullptr;     ///< where departing packets go; null = the cell's
  /// Hybrid ARQ, reordering and RLC. Without, a lost block's data stays in the queue.
  std::optional<AirLinkConfig> air = std::nullopt;
  /// Without hybrid ARQ: after so many lost blocks in a row the packets the last one would have completed are dropped
  /// (n of the CLAMP paper); 0 = never.
  std::uint32_t attempts = 0;
  std::uint32_t sector = 0;  ///< of the Node-B's cells the one it is in
  double loss = 0;           ///< share of the packets that leave and are lost on the air for good, 0 … 1
  Random loss_draws{0};
  bool here = true;  ///< false: it is with another Node-B at first
};

/// What a TTI has to give away.
struct CellResources {
  std::uint32_t blocks = 1;  ///< resource blocks; 1: a TTI belongs to one UE (time multiplexing), > 0
  /// So many UEs get an even share of the blocks in a TTI; what they do not need goes to further ones. > 0
  std::uint32_t sharers = 1;
};

struct CellCounters {
  std::uint64_t ttis = 0;                 ///< in which the scheduler ran
  std::uint64_t blocks = 0;               ///< transport blocks sent
  std::uint64_t blocks_lost = 0;          ///< of these, lost on the air, repeated ones included
  std::uint64_t unknown_destination = 0;  ///< packets to nobody in this cell: forwarded by the default route, if any
  std::uint64_t not_ip = 0;               ///< frames that are not IP: same
  std::uint64_t dropped_no_route = 0;     ///< of these two, dropped because there is no default route
};

/// The radio half of a Node-B: per-UE queues, per-UE channels and a scheduler that gives each TTI to one UE, or its
/// resource blocks to several. A Node-B may have several sectors (cells), each with a scheduler and TTIs of its own; a
/// UE is in one of them and may be moved. A UE may also be with another Node-B: then it is not here, its channel must
/// be silent, and what comes for it waits until it is. Packets for its UEs come in by receive() and leave towards the
/// UEs. TTI n runs at n times the TTI's length; TTIs in which nothing waits are passed over, which changes nothing but
/// the time a run takes.
class Cell final : public RadioCell, public Element, public EventTarget, private AirLinkUser {
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
  /// Sets hybrid ARQ and RLC up anew, where it has any.
  void reset_link(UeIndex ue, Instant now);
  /// Drops what waits for a UE and what is on its way to it.
  void flush(UeIndex ue, DropReason reason, Instant now);
  /// Hands all that on instead, in its order: to another Node-B. What is not known to have reached the UE goes again.
  void hand_on(UeIndex ue, Element& to, Instant now);
  /// A packet for a UE that is not here any more: it is handed on without waiting, or dropped.
  void pass_on(UeIndex ue, packet::Packet packet, Bytes length, Element& to, Instant now);
  void turn_away(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  /// A packet that another Node-B has handed on, for a UE that is here or comes.
  void take_over(UeIndex ue, packet::Packet packet, Bytes length, Instant now);
  /// The same for one that has gone again: what is passed on or turned away next.
  void note_taken_over(UeIndex ue, Bytes length) { ues_[ue].queue.take_over(length); }
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
  void set_observer(CellObserver* observer) override { observer_ = observer; }
  void set_arrival_observer(ArrivalObserver* observer) { arrivals_ = observer; }
  void set_presence_observer(PresenceObserver* observer) { presence_ = observer; }

  /// A downlink frame: into the queue of the UE it is addressed to.
  void receive(packet::Packet packet, Instant now) override;
  /// A TTI; called by the event loop.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::size_t ues() const override { return ues_.size(); }
  [[nodiscard]] std::size_t queues() const override { return ues_.size(); }
  [[nodiscard]] Backlog backlog(std::size_t queue) const override;
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;
  [[nodiscard]] const UeQueue& queue(UeIndex ue) const { return ues_[ue].queue; }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return ues_[ue].address; }
  /// Hybrid ARQ and RLC of a UE; null when it has none.
  [[nodiscard]] const AirLink* air(UeIndex ue) const { return ues_[ue].air.get(); }
  /// The UE that has this address, be it its first or another; nothing when it is not in this cell.
  [[nodiscard]] std::optional<UeIndex> find(const IpAddress& address) const;
  /// Use of a UE's link by TTIs that began before `now`. `now` never goes back.
  [[nodiscard]] LinkUse use(UeIndex ue, Instant now);
  /// Use of the air that all UEs share, likewise. A TTI that went to a UE offered what that UE's link could carry, one
  /// that went to nobody the mean of all UEs' links: a cell that always serves somebody is used to 100 %, whatever its
  /// scheduler.
  [[nodiscard]] LinkUse use(Instant now) override;
  /// UEs that are here with something in their queue.
  [[nodiscard]] std::uint32_t active_users() const;
  [[nodiscard]] const CellCounters& counters() const { return counters_; }
  [[nodiscard]] Duration tti() const { return tti_; }

 private:
  struct Ue {
    IpAddress address;
    UeQueue queue;
    std::unique_ptr<Channel> channel;
    Element* towards_ue;
    std::unique_ptr<AirLink> air;
    std::uint32_t attempts = 0;
    std::uint32_t failures = 0;  ///< lost blocks in a row
    std::uint32_t sector = 0;
    control::feedback::RadioState state = control::feedback::RadioState::normal;
    std::uint64_t airtime = 0;
    double loss = 0;
    Random loss_draws{0};
    bool here = true;
    bool losing = false;
  };
  /// What becomes of packets on the air whose link is given up.
  struct Parting {
    DropReason reason = DropReason::air;
    Element* onwards = nullptr;  ///< they are handed on; null: dropped
  };
  /// What a UE is given of a TTI.
  struct Allocation {
    UeIndex ue = 0;
    std::uint32_t needed = 0;  ///< units that its backlog takes
    std::uint32_t units = 0;
  };
  [[nodiscard]] Instant start_of(std::uint64_t tti) const {
    return Instant(Duration(static_cast<Duration::rep>(tti) * tti_.count()));
  }
  [[nodiscard]] std::uint64_t tti_of(Instant now) const {
    return static_cast<std::uint64_t>(now.time_since_epoch() / tti_);
  }
  void forward_unknown(packet::Packet packet, Instant now);
  void enqueue(UeIndex index, packet::Packet packet, Bytes length, Instant now);
  void part(UeIndex index, const Parting& parting, Instant now);
  [[nodiscard]] std::uint64_t offered_to_everybody(Instant now);
  [[nodiscard]] std::uint64_t offered_to_nobody(std::uint64_t everybodys) const;
  void settle_offers(Instant now);
  void wake_at(std::uint64_t tti);
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from);
  void run_tti(std::uint64_t tti, Instant now);
  std::uint32_t run_sector(std::uint32_t sector, std::uint64_t tti, Instant now);
  std::uint32_t repeat(std::uint32_t sector, std::uint64_t tti, Instant now);
  void gather(std::uint32_t sector, std::uint64_t tti, Instant now);
  void allocate(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units);
  [[nodiscard]] std::uint32_t needed_by(UeIndex index, Bytes capacity, Instant now) const;
  void transmit(std::uint64_t tti, const Allocation& allocation, Instant now);
  Bytes serve(Ue& ue, UeIndex index, Bytes capacity, Instant now);
  void drop_after_attempts(Ue& ue, UeIndex index, Bytes capacity, Instant now);
  void account(std::uint64_t tti, std::uint32_t units);
  void depart(UeIndex index, Departed departed, Instant now);
  void left_queue(std::uint32_t ue, const Departed& departed, Instant now) override;
  void dropped(std::uint32_t ue, const packet::Packet& packet, Bytes length, Instant now) override;
  void drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now);
  void arrived(std::uint32_t ue, Departed departed, Instant now) override;
  void lost(std::uint32_t ue, Departed departed, Instant now) override;
  void ready_at(std::uint32_t ue, Instant when) override;

  EventLoop& loop_;
  Duration tti_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;  ///< one per sector
  Element& towards_ue_;
  CellResources resources_;
  Element* default_route_ = nullptr;
  CellObserver* observer_ = nullptr;
  ArrivalObserver* arrivals_ = nullptr;
  PresenceObserver* presence_ = nullptr;
  Parting parting_;
  std::vector<Ue> ues_;
  std::unordered_map<IpAddress, UeIndex> by_address_;
  std::vector<Candidate> candidates_;
  std::vector<Allocation> allocations_;
  static constexpr std::uint64_t asleep = UINT64_MAX;
  std::uint64_t wake_tti_ = asleep;  ///< the TTI to run next; events of the loop for any other are void
  CellCounters counters_;
  // Of the TTIs, or parts of TTIs, that went to some UE: bytes that UE's link offered, and the links of all together.
  std::uint64_t offered_served_ = 0;
  std::uint64_t offered_to_all_ = 0;
  // Up to the last time that a UE came or went: what the links of all offered in all TTIs, in those that went to some
  // UE, and on average in those that went to nobody.
  std::uint64_t everybodys_before_ = 0;
  std::uint64_t to_all_before_ = 0;
  std::uint64_t nobodys_before_ = 0;
};

}  // namespace sluice::emulator

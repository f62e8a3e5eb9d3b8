#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// A UE's number in its cell: 0, 1, 2 … in the order of add_ue.
using UeIndex = std::uint32_t;

/// Told what happens in a cell's radio queues; for delays, logs and reports that are sent on sharp change.
class CellObserver {
 public:
  /// A packet of `length` IP bytes left the queue, `queueing` after it came. `packet` is on its way to the UE.
  virtual void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) = 0;
  /// A packet found the queue full.
  virtual void on_drop(UeIndex ue, Bytes length, Instant now) = 0;

 protected:
  ~CellObserver() = default;
};

/// Told of every packet that enters a radio queue; for what the Node-B measures at arrivals.
class ArrivalObserver {
 public:
  /// The queue holds it already.
  virtual void on_arrival(UeIndex ue, Instant now) = 0;

 protected:
  ~ArrivalObserver() = default;
};

struct UeConfig {
  IpAddress address;
  QueueConfig queue;
  std::unique_ptr<Channel> channel;  ///< made for the cell's TTI
  Element* towards_ue = nullptr;     ///< where departing packets go; null = the cell's
};

struct CellCounters {
  std::uint64_t ttis = 0;                 ///< in which the scheduler ran
  std::uint64_t blocks = 0;               ///< TTIs given to some UE
  std::uint64_t blocks_lost = 0;          ///< of these, lost on the air
  std::uint64_t unknown_destination = 0;  ///< packets to nobody in this cell: forwarded by the default route, if any
  std::uint64_t not_ip = 0;               ///< frames that are not IP: same
  std::uint64_t dropped_no_route = 0;     ///< of these two, dropped because there is no default route
};

/// What a UE's link could have carried, and what it did, in bytes on the air, cumulative; subtract two of them for the
/// time between.
struct LinkUse {
  std::uint64_t offered = 0;  ///< of a UE: had every TTI been its own
  std::uint64_t carried = 0;  ///< padding of frames included
  std::uint64_t ttis = 0;     ///< TTIs that have passed
  std::uint64_t airtime = 0;  ///< TTIs that this UE was given

  /// Part of the offered bytes that was carried, 0 … 1; 0 when nothing was offered.
  [[nodiscard]] double utilisation() const {
    return offered > 0 ? static_cast<double>(carried) / static_cast<double>(offered) : 0;
  }
  friend LinkUse operator-(const LinkUse& a, const LinkUse& b) {
    return {a.offered - b.offered, a.carried - b.carried, a.ttis - b.ttis, a.airtime - b.airtime};
  }
};

/// The radio half of a Node-B: per-UE queues, per-UE channels and one scheduler that gives each TTI to one UE. Packets
/// for its UEs come in by receive() and leave towards the UEs. TTI n runs at n times the TTI's length; TTIs in which
/// nothing waits are passed over, which changes nothing but the time a run takes.
class Cell final : public Element, public EventTarget {
 public:
  /// `tti` > 0: 1 ms for traces, 2 ms for HSDPA. `loop`, `towards_ue` outlive the cell.
  Cell(EventLoop& loop, Duration tti, std::unique_ptr<Scheduler> scheduler, Element& towards_ue);

  /// Adds a UE; before the first packet. Throws std::invalid_argument when its address is taken or it has no channel.
  UeIndex add_ue(UeConfig config);
  /// Gives a UE one more address (it has IPv4 and IPv6, say). Throws as add_ue.
  void add_address(UeIndex ue, const IpAddress& address);
  /// Where frames go that are not for a UE of this cell; null drops them.
  void set_default_route(Element* route) { default_route_ = route; }
  void set_observer(CellObserver* observer) { observer_ = observer; }
  void set_arrival_observer(ArrivalObserver* observer) { arrivals_ = observer; }

  /// A downlink frame: into the queue of the UE it is addressed to.
  void receive(packet::Packet packet, Instant now) override;
  /// A TTI; called by the event loop.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::size_t ues() const { return ues_.size(); }
  [[nodiscard]] const UeQueue& queue(UeIndex ue) const { return ues_[ue].queue; }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const { return ues_[ue].address; }
  /// The UE that has this address, be it its first or another; nothing when it is not in this cell.
  [[nodiscard]] std::optional<UeIndex> find(const IpAddress& address) const;
  /// Use of a UE's link by TTIs that began before `now`. `now` never goes back.
  [[nodiscard]] LinkUse use(UeIndex ue, Instant now);
  /// Use of the air that all UEs share, likewise. A TTI that went to a UE offered what that UE's link could carry, one
  /// that went to nobody the mean of all UEs' links: a cell that always serves somebody is used to 100 %, whatever its
  /// scheduler.
  [[nodiscard]] LinkUse use(Instant now);
  /// UEs with something in their queue.
  [[nodiscard]] std::uint32_t active_users() const;
  [[nodiscard]] const CellCounters& counters() const { return counters_; }
  [[nodiscard]] Duration tti() const { return tti_; }

 private:
  struct Ue {
    IpAddress address;
    UeQueue queue;
    std::unique_ptr<Channel> channel;
    Element* towards_ue;
    std::uint64_t airtime = 0;
  };
  [[nodiscard]] Instant start_of(std::uint64_t tti) const {
    return Instant(Duration(static_cast<Duration::rep>(tti) * tti_.count()));
  }
  [[nodiscard]] std::uint64_t tti_of(Instant now) const {
    return static_cast<std::uint64_t>(now.time_since_epoch() / tti_);
  }
  void forward_unknown(packet::Packet packet, Instant now);
  void wake_at(std::uint64_t tti);
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from);
  void run_tti(std::uint64_t tti, Instant now);
  Bytes serve(UeIndex index, const Grant& grant, Instant now);
  void account_served(std::uint64_t tti, const Grant& given);

  EventLoop& loop_;
  Duration tti_;
  std::unique_ptr<Scheduler> scheduler_;
  Element& towards_ue_;
  Element* default_route_ = nullptr;
  CellObserver* observer_ = nullptr;
  ArrivalObserver* arrivals_ = nullptr;
  std::vector<Ue> ues_;
  std::unordered_map<IpAddress, UeIndex> by_address_;
  std::vector<Candidate> candidates_;
  static constexpr std::uint64_t asleep = UINT64_MAX;
  std::uint64_t wake_tti_ = asleep;  ///< the TTI to run next; events of the loop for any other are void
  CellCounters counters_;
  // Of the TTIs that went to some UE: bytes that UE's link offered, and the links of all UEs together.
  std::uint64_t offered_served_ = 0;
  std::uint64_t offered_to_all_ = 0;
};

}  // namespace sluice::emulator

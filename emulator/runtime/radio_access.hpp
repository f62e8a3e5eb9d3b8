#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/cell/drx.hpp"
#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/cell/uplink_radio.hpp"
#include "emulator/cell/wlan_cell.hpp"
#include "emulator/cell/x2_forwarding.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/runtime/deferred_element.hpp"
#include "emulator/runtime/gwa_router.hpp"
#include "emulator/runtime/hop.hpp"
#include "emulator/runtime/mobility.hpp"
#include "emulator/runtime/nodeb_group.hpp"
#include "emulator/runtime/path_switch.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// The Node-Bs of a scenario, or its access point, with the lines between them and the core, and the forwarding lines
/// between the Node-Bs.
///
/// With several Node-Bs the core switches the downlink paths, and the UEs switch the uplink paths. An uplink packet
/// first passes the UE's own uplink or the scheduled uplink, if there is one, and then the line of the Node-B. An
/// 802.11 access point carries both directions on its air. Thread: the event loop's.
class RadioAccess {
  // ┌ [proxy–Node-B hop] ⇄ cell ⇄ UEs
  // ┤        ⇅ forwarding
  // └ [proxy–Node-B hop] ⇄ cell ⇄ UEs
 public:
  /// Elements that receive the packets which leave the radio access.
  struct Ends {
    Element& ues;      ///< receives the packets that reached their UE over the radio link
    Element& past;     ///< receives packets for no UE, such as ARP, which do not use the radio link
    Element& to_core;  ///< receives packets from the UEs, on their way to the core
  };
  /// Builds the radio access of a scenario. `loop`, `pool` and the ends must outlive it. Throws TraceMissing,
  /// TraceError or std::invalid_argument.
  RadioAccess(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
              TraceLibrary& traces, const Ends& ends);
  RadioAccess(const RadioAccess&) = delete;
  RadioAccess& operator=(const RadioAccess&) = delete;

  /// Returns the element that receives packets from the core.
  [[nodiscard]] Element& downlink();
  /// Returns the element that receives packets from the UEs.
  [[nodiscard]] Element& uplink();

  [[nodiscard]] std::uint32_t nodebs() const { return static_cast<std::uint32_t>(sites_.size()); }
  /// Returns one of the Node-Bs. Must not be called if the radio is an 802.11 access point.
  [[nodiscard]] Cell& cell(std::uint32_t nodeb) { return *sites_[nodeb]->cell; }
  /// Returns the router in front of a Node-B if it advertises a receive window (Generalized Window Advertising); null
  /// if it does not.
  [[nodiscard]] UpstreamRouter* router(std::uint32_t nodeb) {
    auto& gwa_router = sites_[nodeb]->gwa_router;
    return gwa_router ? &*gwa_router : nullptr;
  }
  /// Returns the whole radio for measurements: the access point, the only cell, or all Node-Bs as one.
  [[nodiscard]] RadioCell& radio();
  /// Adds the counters of hops, uplinks, handovers, hybrid ARQ and active queue management.
  void count(std::map<std::string, std::uint64_t>& counters) const;
  /// Returns how many packets the hops to the Node-Bs dropped on the downlink; nothing if none of these hops can drop
  /// packets.
  [[nodiscard]] std::optional<std::uint64_t> hop_drops() const;

 private:
  /// Collects delays and drops of uplink packets on the UEs' own uplinks or the scheduled uplink.
  class UplinkMeter final : public CellObserver {
   public:
    void on_departure(UeIndex, const packet::Packet&, Bytes, Duration queueing, Instant) override {
      delays.add(queueing);
    }
    void on_drop(UeIndex, const packet::Packet&, Bytes, DropReason, Instant) override { ++drops; }
    DelayDigest delays;
    std::uint64_t drops = 0;
  };
  /// One Node-B with its hops. Members are created in the order from the UEs to the core, because each needs the
  /// element that it sends to.
  struct Site {
    Site(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, std::uint32_t nodeb, Element& to_core);
    DeferredElement to_radio;
    Hop down;
    /// Advertises the receive window of the router in front of this Node-B (Generalized Window Advertising). Set if the
    /// scenario configures it.
    std::optional<GwaRouter> gwa_router;
    Hop up;
    Hop uplink;
    std::optional<Cell> cell;
    std::optional<X2Forwarding> port;  ///< forwards packets at a handover; set if there are several Node-Bs
    /// Forwarding lines from this Node-B to all Node-Bs, by number; the one to itself is not used.
    std::vector<std::unique_ptr<Hop>> lines;
  };
  void make_access_point(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, const Ends& ends);
  void make_cell(EventLoop& loop, const Scenario& scenario, std::uint32_t nodeb, std::uint64_t seed,
                 TraceLibrary& traces, const Ends& ends);
  void connect_nodebs(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed);
  void make_uplinks(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces);
  void make_scheduled_uplink(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces);
  void make_sleep(const Scenario& scenario);
  void make_mobility(EventLoop& loop, const Scenario& scenario);
  void count_access_point(std::map<std::string, std::uint64_t>& counters) const;
  void count_uplink(std::map<std::string, std::uint64_t>& counters) const;
  void count_hybrid_arq(std::map<std::string, std::uint64_t>& counters) const;
  void count_handovers(std::map<std::string, std::uint64_t>& counters) const;

  std::vector<std::unique_ptr<Drx>> sleep_;  ///< DRX state of each UE; empty if UEs always listen
  std::vector<std::unique_ptr<Site>> sites_;
  DeferredElement from_air_;  ///< receives the uplink packets of the access point's stations
  std::optional<WlanCell> wlan_;
  std::optional<NodebGroup> group_;
  std::optional<PathSwitch> path_switch_;
  std::optional<UplinkSwitch> uplink_switch_;
  std::optional<UplinkRadio> uplinks_;
  std::optional<ScheduledUplink> scheduled_;
  UplinkMeter uplink_meter_;
  std::vector<MobilityNodeb> neighbours_;
  std::optional<Mobility> mobility_;
};

}  // namespace sluice::emulator

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
#include "emulator/cell/handover_port.hpp"
#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/cell/uplink_radio.hpp"
#include "emulator/cell/wlan_cell.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/runtime/advertising_hop.hpp"
#include "emulator/runtime/hop.hpp"
#include "emulator/runtime/late_link.hpp"
#include "emulator/runtime/mobility.hpp"
#include "emulator/runtime/nodeb_group.hpp"
#include "emulator/runtime/path_switch.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// The Node-Bs of a scenario, or its access point, with the lines that lead there:
///
///     ┌ [proxy–Node-B hop] ⇄ cell ⇄ UEs          With several Node-Bs the core switches the paths down, and the UEs
///     ┤        ⇅ forwarding                      those up.
///     └ [proxy–Node-B hop] ⇄ cell ⇄ UEs
///
/// The UEs' packets take the uplinks of their own, where they have some, or one that is scheduled, and then the line of
/// their Node-B; with an 802.11 access point its air. Thread: the loop's.
class RadioAccess {
 public:
  /// Where what comes out goes.
  struct Ends {
    Element& ues;      ///< off the air
    Element& past;     ///< what is for no UE, such as ARP, and needs no radio
    Element& to_core;  ///< from the UEs
  };
  /// `loop`, `pool` and the ends outlive it. Throws TraceMissing, TraceError or std::invalid_argument.
  RadioAccess(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
              TraceLibrary& traces, const Ends& ends);
  RadioAccess(const RadioAccess&) = delete;
  RadioAccess& operator=(const RadioAccess&) = delete;

  /// Where what comes from the core, and from the UEs, goes in.
  [[nodiscard]] Element& downlink();
  [[nodiscard]] Element& uplink();

  [[nodiscard]] std::uint32_t nodebs() const { return static_cast<std::uint32_t>(sites_.size()); }
  /// One of the Node-Bs. Only where the radio is not an access point.
  [[nodiscard]] Cell& cell(std::uint32_t nodeb) { return *sites_[nodeb]->cell; }
  /// The router before a Node-B; null where it does not advertise.
  [[nodiscard]] UpstreamRouter* router(std::uint32_t nodeb) {
    auto& advertising = sites_[nodeb]->advertising;
    return advertising ? &*advertising : nullptr;
  }
  /// All of it, for measurements.
  [[nodiscard]] RadioCell& radio();
  void count(std::map<std::string, std::uint64_t>& counters) const;
  /// Packets that the hops to the Node-Bs have dropped on the way down; nothing where none of them can.
  [[nodiscard]] std::optional<std::uint64_t> hop_drops() const;

 private:
  /// What became of packets in the UEs' own uplinks.
  class UplinkMeter final : public CellObserver {
   public:
    void on_departure(UeIndex, const packet::Packet&, Bytes, Duration queueing, Instant) override {
      delays.add(queueing);
    }
    void on_drop(UeIndex, const packet::Packet&, Bytes, DropReason, Instant) override { ++drops; }
    DelayDigest delays;
    std::uint64_t drops = 0;
  };
  /// One Node-B with its lines. Made from the UEs backwards, so that each finds the one it sends to.
  struct Site {
    Site(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, std::uint32_t nodeb, Element& to_core);
    LateLink to_radio;
    Hop down;
    std::optional<AdvertisingHop> advertising;  ///< `down`, where its router advertises
    Hop up;
    Hop uplink;
    std::optional<Cell> cell;
    std::optional<HandoverPort> port;         ///< where there are several Node-Bs
    std::vector<std::unique_ptr<Hop>> lines;  ///< from it to the others
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

  std::vector<std::unique_ptr<Drx>> sleep_;  ///< of the UEs; empty where they always listen
  std::vector<std::unique_ptr<Site>> sites_;
  LateLink from_air_;  ///< of the access point
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

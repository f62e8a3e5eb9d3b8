#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "emulator/cell/cell.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/cell/uplink_radio.hpp"
#include "emulator/cell/wlan_cell.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/hop.hpp"
#include "emulator/runtime/joint.hpp"
#include "emulator/runtime/meter.hpp"
#include "emulator/runtime/mobility.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Where the network's four ends lead: the hosts and the two ports of whatever stands in the middle.
struct NetworkEnds {
  Element* servers = nullptr;
  Element* proxy_core = nullptr;   ///< what comes from the servers; null: no proxy, straight on
  Element* proxy_radio = nullptr;  ///< what comes from the UEs; null: no proxy, straight on
  Element* ues = nullptr;
};

/// What the Node-B of a scenario reports.
[[nodiscard]] ReporterConfig reporter_config(const Scenario& scenario);

/// The wired hops, the cell and the meter of one run, up to the hosts and the proxy:
///
///     servers ⇄ [server–proxy hop] ⇄ proxy ⇄ [proxy–Node-B hop] ⇄ cell → UEs
///                                                               ⇠ uplink ⇠ uplinks of their own ⇠
///
/// With an 802.11 access point the UEs' packets take its air, too, before the uplink. The same object in virtual and in
/// real time. Thread: the loop's.
class Network {
 public:
  /// `loop` and the ends outlive it. Throws TraceMissing, TraceError or std::invalid_argument.
  Network(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces, const NetworkEnds& ends);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Where what comes out of the ends goes in.
  [[nodiscard]] Element& from_servers() { return from_servers_; }
  [[nodiscard]] Element& from_proxy_core() { return core_up_; }
  [[nodiscard]] Element& from_proxy_radio() { return from_proxy_; }
  [[nodiscard]] Element& from_ues();

  /// The Node-B. Only where the radio is not an access point.
  [[nodiscard]] Cell& cell() { return *cell_; }
  [[nodiscard]] Meter& meter() { return *meter_; }
  /// Adds what the radio and routers counted, where there are any, under the names of the results' columns.
  void count(std::map<std::string, std::uint64_t>& counters) const;

 private:
  /// What became of packets in the UEs' own uplinks.
  class UplinkMeter final : public CellObserver {
   public:
    void on_departure(UeIndex, const packet::Packet&, Bytes, Duration queueing, Instant) override {
      delays.add(queueing);
    }
    void on_drop(UeIndex, const packet::Packet&, Bytes, Instant) override { ++drops; }
    DelayDigest delays;
    std::uint64_t drops = 0;
  };
  void make_uplinks(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces);
  void make_cell(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces,
                 const NetworkEnds& ends);
  void add_ues(const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces);

  Tap to_ues_;
  Joint to_radio_;
  Joint from_radio_;
  Hop radio_down_;
  Tap from_proxy_;
  Tap to_proxy_radio_;
  Hop core_up_;
  Hop radio_up_;
  Hop uplink_;
  Hop core_down_;
  Tap from_servers_;
  std::optional<Cell> cell_;
  std::optional<WlanCell> wlan_;
  std::optional<UplinkRadio> uplinks_;
  UplinkMeter uplink_meter_;
  std::optional<Mobility> mobility_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace sluice::emulator

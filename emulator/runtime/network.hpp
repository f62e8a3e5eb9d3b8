#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/packet/pool.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/hop.hpp"
#include "emulator/runtime/meter.hpp"
#include "emulator/runtime/radio_access.hpp"
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

/// The wired hop before the proxy, the radio access behind it and the meter of one run, up to the hosts and the proxy:
///
///     servers ⇄ [server–proxy hop] ⇄ proxy ⇄ radio access ⇄ UEs
///
/// The same object in virtual and in real time. Thread: the loop's.
class Network {
 public:
  /// `loop`, `pool` and the ends outlive it. Throws TraceMissing, TraceError or std::invalid_argument.
  Network(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces,
          const NetworkEnds& ends);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Where what comes out of the ends goes in.
  [[nodiscard]] Element& from_servers() { return from_servers_; }
  [[nodiscard]] Element& from_proxy_core() { return core_up_; }
  [[nodiscard]] Element& from_proxy_radio() { return from_proxy_; }
  [[nodiscard]] Element& from_ues() { return radio_.uplink(); }

  /// One of the Node-Bs. Only where the radio is not an access point.
  [[nodiscard]] Cell& cell(std::uint32_t nodeb) { return radio_.cell(nodeb); }
  [[nodiscard]] std::uint32_t nodebs() const { return radio_.nodebs(); }
  /// What that Node-B reports each `period`, with the id `sender`. `scenario` is the network's.
  [[nodiscard]] ReporterConfig reporter_config(const Scenario& scenario, std::uint32_t nodeb, Duration period,
                                               std::uint64_t sender);
  [[nodiscard]] Meter& meter() { return meter_; }
  /// The warm-up is over: what the hops have dropped until now does not count as hop_drops.
  void end_warmup() { dropped_before_ = hop_drops().value_or(0); }
  /// Adds what the radio and routers counted, where there are any, under the names of the results' columns.
  void count(std::map<std::string, std::uint64_t>& counters) const;

 private:
  /// Packets that all hops have dropped on the way down; nothing where none of them can.
  [[nodiscard]] std::optional<std::uint64_t> hop_drops() const;

  Tap to_ues_;
  Hop core_up_;
  Tap to_proxy_radio_;
  RadioAccess radio_;
  Tap from_proxy_;
  Hop core_down_;
  Tap from_servers_;
  Meter meter_;
  std::uint64_t dropped_before_ = 0;  ///< by hops, during the warm-up
};

}  // namespace sluice::emulator

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

/// Elements at the network's four ends: the hosts, and the two ports of the proxy.
struct NetworkEnds {
  Element* servers = nullptr;
  Element* proxy_core = nullptr;   ///< port for packets from the servers; null without a proxy
  Element* proxy_radio = nullptr;  ///< port for packets from the UEs; null without a proxy
  Element* ues = nullptr;
};

/// Network of one run between the hosts and the proxy. It contains the wired hop between servers and proxy, the radio
/// access between proxy and UEs, and the meter. Serves runs in virtual and in real time. Thread: the event loop's.
class Network {
  // servers ⇄ [server–proxy hop] ⇄ proxy ⇄ radio access ⇄ UEs
 public:
  /// Builds the network of one run. `loop`, `pool` and the ends must outlive it. Throws TraceMissing, TraceError or
  /// std::invalid_argument.
  Network(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces,
          const NetworkEnds& ends);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Entry points for the packets that the ends send.
  [[nodiscard]] Element& from_servers() { return from_servers_; }
  [[nodiscard]] Element& from_proxy_core() { return core_up_; }
  [[nodiscard]] Element& from_proxy_radio() { return from_proxy_; }
  [[nodiscard]] Element& from_ues() { return radio_.uplink(); }

  /// Returns one of the Node-Bs. Must not be called if the radio is an 802.11 access point.
  [[nodiscard]] Cell& cell(std::uint32_t nodeb) { return radio_.cell(nodeb); }
  [[nodiscard]] std::uint32_t nodebs() const { return radio_.nodebs(); }
  /// Returns the configuration of a Node-B's reporter with the given period and sender id. `scenario` must be the
  /// scenario of this network.
  [[nodiscard]] ReporterConfig reporter_config(const Scenario& scenario, std::uint32_t nodeb, Duration period,
                                               std::uint64_t sender);
  [[nodiscard]] Meter& meter() { return meter_; }
  /// Records the end of the warm-up. Packets that the hops dropped before do not count as hop_drops.
  void end_warmup() { dropped_before_ = hop_drops().value_or(0); }
  /// Adds the counters of the radio and of the hops that can drop packets. Their names are those of the columns of the
  /// results.
  void count(std::map<std::string, std::uint64_t>& counters) const;

 private:
  /// Returns how many packets all hops dropped on the downlink; nothing if no hop can drop packets.
  [[nodiscard]] std::optional<std::uint64_t> hop_drops() const;

  Tap to_ues_;
  Hop core_up_;
  Tap to_proxy_radio_;
  RadioAccess radio_;
  Tap from_proxy_;
  Hop core_down_;
  Tap from_servers_;
  Meter meter_;
  std::uint64_t dropped_before_ = 0;  ///< packets dropped by hops during the warm-up
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <memory>

#include "emulator/cell/cell.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/meter.hpp"
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
///                                                               ⇠ uplink ⇠
///
/// The same object in virtual and in real time. Thread: the loop's.
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
  [[nodiscard]] Element& from_ues() { return uplink_; }

  [[nodiscard]] Cell& cell() { return cell_; }
  [[nodiscard]] Meter& meter() { return *meter_; }

 private:
  void add_ues(const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces);

  Tap to_ues_;
  Cell cell_;
  DelayLine radio_down_;
  Tap from_proxy_;
  Tap to_proxy_radio_;
  DelayLine core_up_;
  DelayLine radio_up_;
  DelayLine uplink_;
  DelayLine core_down_;
  Tap from_servers_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/flow_source.hpp"
#include "emulator/hosts/framed_stream.hpp"
#include "emulator/hosts/game.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/request_client.hpp"
#include "emulator/hosts/responsiveness_client.hpp"
#include "emulator/hosts/video_client.hpp"
#include "emulator/hosts/web_client.hpp"
#include "emulator/net/router.hpp"
#include "emulator/net/source_switch.hpp"
#include "emulator/report/result.hpp"
#include "emulator/runtime/hop.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// The built-in servers of a scenario, one host per address. Each answers requests on port 80, framed streams on port
/// 443 and games on UDP port 3074.
class BuiltInServers {
 public:
  BuiltInServers(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                 Element& wire);
  /// Returns the element that receives the frames sent to the servers.
  [[nodiscard]] Element& entry() { return router_; }
  [[nodiscard]] const ServerCounters& counters() const { return counters_; }
  /// Ends the run: records the connections that are still open.
  void end_run(Instant now) {
    for (const auto& host : hosts_) host->end_run(now);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Returns the log of the datagrams that players sent to all servers.
  [[nodiscard]] const DatagramLog& game_log() const { return game_log_; }

 private:
  void serve(EventLoop& loop, Host& host, Instant count_from, Random random);

  ServerCounters counters_;
  DatagramLog game_log_;
  std::vector<std::unique_ptr<GameServer>> games_;
  Router router_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Hop>> hops_;  ///< hops between the network and single servers, both directions
};

/// Returns the rows of flows.csv from the records of UEs and servers. Times in the rows are relative to `began`.
[[nodiscard]] std::vector<FlowRow> flow_rows(const FlowLog& log, const ServerCounters& servers, Instant began);

/// The built-in UEs of a scenario with their applications.
class BuiltInUes {
 public:
  BuiltInUes(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed, Element& wire);
  /// Returns the element that receives the frames sent to the UEs.
  [[nodiscard]] Element& entry() { return router_; }
  [[nodiscard]] const FlowLog& log() const { return log_; }
  /// Ends the run: records the connections that are still open.
  void end_run(Instant now) {
    for (const auto& host : hosts_) host->end_run(now);
  }
  /// Returns the hosts, one for each address of a UE. The first addresses of all UEs come first, then the further
  /// addresses.
  [[nodiscard]] const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Returns the number of downlink packets dropped by second hops (links from a UE to devices that share its radio
  /// link).
  [[nodiscard]] std::uint64_t second_hop_drops() const;
  [[nodiscard]] bool has_second_hops() const { return !second_hops_.empty(); }

 private:
  /// Adds an application of type request, telnet, on-off or flows.
  void add_stream(EventLoop& loop, Host& host, const Scenario& scenario, const AppSpec& app, std::uint32_t index,
                  std::uint64_t seed);
  /// Adds a video, game or responsiveness application. Returns false if `app` has another type.
  bool add_user(EventLoop& loop, Host& host, const Scenario& scenario, const AppSpec& app, std::uint32_t index,
                std::uint64_t seed);
  void add_app(EventLoop& loop, const Scenario& scenario, const AppSpec& app, std::uint32_t index, std::uint64_t seed);
  /// Adds a host for one address of a UE, and the second hops from this UE to devices that share its radio link.
  void add_host(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                std::uint32_t ue, const IpAddress& address, Element& wire);
  /// Returns the host that the application runs on.
  [[nodiscard]] Host& host_of(const Scenario& scenario, const AppSpec& app);

  FlowLog log_;
  Router router_;
  /// Uplink routers, one for each UE address with second hops (links from the UE to devices that share its radio link).
  /// Packets to the server of a second hop pass that hop and then the radio link. All other packets go to the radio
  /// link directly.
  std::vector<std::unique_ptr<Router>> uplink_routers_;
  /// Second hops: links from a UE to devices that share its radio link, in both directions.
  std::vector<std::unique_ptr<Hop>> second_hops_;
  std::vector<const Hop*> down_hops_;  ///< downlink directions of the second hops (from a UE to its devices)
  std::vector<std::unique_ptr<SourceSwitch>> switches_;
  std::map<IpAddress, Host*> by_address_;
  std::vector<std::unique_ptr<GameClient>> players_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Application>> applications_;
  std::vector<std::unique_ptr<FlowSource>> sources_;
  std::vector<std::unique_ptr<ResponsivenessClient>> probers_;
};

}  // namespace sluice::emulator

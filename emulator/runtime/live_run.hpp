#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/report/result.hpp"
#include "emulator/runtime/endpoints.hpp"
#include "emulator/runtime/late_link.hpp"
#include "emulator/runtime/live_feedback.hpp"
#include "emulator/runtime/live_port.hpp"
#include "emulator/runtime/network.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// How a real-time run is doing, for a status line and for the live page.
struct LiveStatus {
  static constexpr std::size_t most_ues = 100;  ///< that are described

  double time_s = 0;  ///< since the run began
  SeriesPoint point;  ///< the newest of the time series
  std::uint64_t ttis_missed = 0;
  std::uint64_t reports = 0;
  std::uint64_t statuses = 0;  ///< heard from the proxy
  std::vector<UeNow> ues;
  std::size_t ues_total = 0;
  std::array<std::uint64_t, drop_reasons> drops{};  ///< packets, since the measurement began
  bool buffers_short = false;                       ///< nearly all packet buffers were in use at some time
  bool finished = false;
};

/// The Node-B in real time: the very network of the virtual-time runs, its event loop driven by the clock, its ends
/// DPDK ports or built-in hosts. A poll thread runs it; a second one has the feedback. EAL must be running.
class LiveRun {
 public:
  /// Opens the ports. `scenario`, `pool` and `traces` outlive it. Throws std::runtime_error saying what is wrong.
  LiveRun(const Scenario& scenario, RunMode mode, packet::PacketPool& pool, TraceLibrary& traces);
  /// Stops and joins.
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// Starts the clock.
  void start();
  /// Ends the run before its time; start() must have been called.
  void stop();
  [[nodiscard]] LiveStatus status();
  /// After stop() or when status().finished: what was measured, everything but the scenario's name.
  [[nodiscard]] RunResult result();
  /// One line per port and end, for the log.
  [[nodiscard]] std::vector<std::string> describe() const;

 private:
  Element& open_port(const std::string& name, const std::string& device, dpdk::Facing facing, LateLink& inwards);
  void check_topology() const;
  void build(TraceLibrary& traces);
  void add_feedback(Duration period);
  bool deliver(Instant now);
  static void count_claims(const control::feedback::ClaimCounters& claims,
                           std::map<std::string, std::uint64_t>& counters);
  void count_feedback(std::map<std::string, std::uint64_t>& counters) const;
  void poll();
  bool run_due(Instant now);
  void publish(Instant now);

  const Scenario& scenario_;
  RunMode mode_;
  packet::PacketPool& pool_;
  dpdk::PollPolicy policy_;
  EventLoop loop_;
  Discard discard_;
  // Where what the ports receive goes, once the network stands.
  LateLink from_servers_;
  LateLink from_proxy_core_;
  LateLink from_proxy_radio_;
  LateLink from_ues_;
  LateLink to_servers_;
  LateLink to_ues_;
  std::vector<std::unique_ptr<dpdk::Port>> devices_;
  std::vector<std::unique_ptr<LivePort>> ports_;
  std::optional<Network> network_;
  std::optional<BuiltInServers> servers_;
  std::optional<BuiltInUes> ues_;
  /// A Node-B's reports, and where they go.
  struct Reports {
    std::unique_ptr<LiveFeedback> feedback;
    std::unique_ptr<Reporter> reporter;
  };
  std::vector<Reports> reports_;  ///< by Node-B; none where nothing is reported

  DelayDigest lateness_;
  std::uint64_t ttis_missed_ = 0;
  bool buffers_short_ = false;  ///< fewer than a burst were left at some time
  Instant ended_{};
  std::atomic<bool> stop_{false};
  std::mutex status_mutex_;
  LiveStatus status_;
  std::thread thread_;
};

}  // namespace sluice::emulator

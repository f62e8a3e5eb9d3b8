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
#include "emulator/runtime/deferred_element.hpp"
#include "emulator/runtime/endpoints.hpp"
#include "emulator/runtime/live_feedback.hpp"
#include "emulator/runtime/live_port.hpp"
#include "emulator/runtime/network.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// State of a real-time run, for the status line and the live page.
struct LiveStatus {
  static constexpr std::size_t max_ues = 100;  ///< largest number of UEs that the status describes

  double time_s = 0;  ///< time since the start of the run
  SeriesPoint point;  ///< newest point of the time series
  std::uint64_t ttis_missed = 0;
  std::uint64_t reports = 0;
  std::uint64_t statuses = 0;  ///< status messages received from the proxy
  std::vector<UeStatus> ues;
  std::size_t ues_total = 0;
  /// Numbers of packets dropped since the measurement began, by reason.
  std::array<std::uint64_t, drop_reasons> drops{};
  bool buffers_short = false;  ///< true once the free packet buffers were fewer than one poll may need
  bool finished = false;
};

/// The Node-B in real time: the network of the virtual-time runs with an event loop driven by the clock. At its ends
/// are DPDK ports or built-in hosts. A poll thread runs the network; a second thread handles the feedback. Requires a
/// running EAL.
class LiveRun {
 public:
  /// Opens the ports and builds the network. `scenario`, `pool` and `traces` must outlive it. Throws std::runtime_error
  /// with the reason if the scenario or a port is unsuitable.
  LiveRun(const Scenario& scenario, RunMode mode, packet::PacketPool& pool, TraceLibrary& traces);
  /// Stops the run and joins its threads.
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// Starts the poll thread, and with it the clock of the run.
  void start();
  /// Ends the run early and joins its threads.
  void stop();
  [[nodiscard]] LiveStatus status();
  /// Returns all measurements of the run. The scenario's name is not set. Call it after stop() or once
  /// status().finished is true.
  [[nodiscard]] RunResult result();
  /// Returns lines of text for the log: one for each port, and one each with the number of built-in UEs and servers, if
  /// any.
  [[nodiscard]] std::vector<std::string> describe() const;

 private:
  Element& open_port(const std::string& name, const std::string& device, dpdk::Facing facing, DeferredElement& inwards);
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
  // Entry points of the network for packets from ports and built-in hosts; connected after it is built.
  DeferredElement from_servers_;
  DeferredElement from_proxy_core_;
  DeferredElement from_proxy_radio_;
  DeferredElement from_ues_;
  DeferredElement to_servers_;
  DeferredElement to_ues_;
  std::vector<std::unique_ptr<dpdk::Port>> devices_;
  std::vector<std::unique_ptr<LivePort>> ports_;
  std::optional<Network> network_;
  std::optional<BuiltInServers> servers_;
  std::optional<BuiltInUes> ues_;
  /// Feedback and reporter of one Node-B.
  struct Reports {
    std::unique_ptr<LiveFeedback> feedback;
    std::unique_ptr<Reporter> reporter;
  };
  std::vector<Reports> reports_;  ///< feedback and reporter of each Node-B; empty if no reports are sent

  DelayDigest lateness_;
  std::uint64_t ttis_missed_ = 0;
  bool buffers_short_ = false;  ///< true once the free packet buffers were fewer than one poll may need
  Instant ended_{};
  std::atomic<bool> stop_{false};
  std::mutex status_mutex_;
  LiveStatus status_;
  std::thread thread_;
};

}  // namespace sluice::emulator

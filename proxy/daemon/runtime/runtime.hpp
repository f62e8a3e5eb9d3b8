#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/rss.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/config/config.hpp"
#include "proxy/daemon/runtime/fail_open_monitor.hpp"
#include "proxy/daemon/runtime/ipfix_export.hpp"
#include "proxy/daemon/runtime/logging.hpp"
#include "proxy/daemon/runtime/reloader.hpp"
#include "proxy/daemon/runtime/run_record.hpp"
#include "proxy/daemon/runtime/shard_commands.hpp"
#include "proxy/daemon/runtime/state_file.hpp"
#include "proxy/daemon/runtime/stop_sequence.hpp"
#include "proxy/daemon/runtime/web_server.hpp"
#include "proxy/daemon/service/service.hpp"
#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/daemon/status/detail_collector.hpp"
#include "proxy/daemon/status/link_watch.hpp"
#include "proxy/daemon/status/report_watch.hpp"
#include "proxy/daemon/status/shard_watch.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/daemon/threads/feedback_link.hpp"
#include "proxy/daemon/threads/shard_thread.hpp"
#include "proxy/ops/admin/server.hpp"
#include "proxy/ops/capture/captures.hpp"
#include "proxy/ops/capture/ring_file.hpp"
#include "proxy/ops/decision_log/traces.hpp"

namespace sluice::proxy {

/// The running proxy: DPDK, two ports, shards with their poll threads, and the control thread. The control thread calls
/// run(), and handles feedback, admin socket, HTTP, log and signals. A process has only one Runtime, because DPDK is
/// initialized once per process.
class Runtime {
 public:
  /// Starts all parts of the proxy. `file` is the path of the configuration file, which a reload reads again. If a part
  /// fails, stops those already started and throws std::runtime_error with the failure and advice.
  Runtime(Config config, Logging& log, std::string file = {});
  /// Stops the shards, the ports and DPDK, in this order.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Runs until SIGTERM, SIGINT or the admin command `stop`. Then hands connections back to their hosts (see
  /// StopSequence) and returns true. Returns false if a shard failed; the failure is logged.
  [[nodiscard]] bool run();

 private:
  [[nodiscard]] dpdk::EalConfig eal_config() const;
  [[nodiscard]] std::unique_ptr<dpdk::Port> open_port(Side side);
  /// Reads how the last run ended, and starts the record of this run. Returns null if state.file is not set.
  [[nodiscard]] std::unique_ptr<RunRecord> open_run_record() const;
  [[nodiscard]] admin::Json last_run() const;
  /// Creates the watchdog process if a fail-open bridge is configured. The watchdog process kills this process when it
  /// hangs.
  [[nodiscard]] std::unique_ptr<WatchdogProcess> start_watchdog() const;
  /// Creates the fail-open bridge if it is configured.
  void prepare_to_fail_open();
  /// Stops the fail-open bridge from forwarding. Drops the frames that the ports received before, because the bridge
  /// has forwarded them too.
  void take_over();
  void open_state();
  void start_shards();
  void start_feedback();
  void start_admin();
  void start_web();
  [[nodiscard]] admin::CommandTable commands();
  void release(const std::vector<std::string>& words, const admin::Reply& reply);
  void list_flows(std::vector<std::string> words, const admin::Reply& reply);
  void split_again(const std::vector<std::string>& words, const admin::Reply& reply);
  void drain(const std::vector<std::string>& words, const admin::Reply& reply);
  [[nodiscard]] admin::Answer log_level(const std::vector<std::string>& words);
  void await_signal();
  void handle_signal(int number);
  void watch_counters();
  /// Appends those counters that belong to the process, not to a shard or port.
  void add_program_counters(std::vector<NamedCounter>& out) const;
  /// Logs once if another program has truncated a mapped file, because its content is then lost.
  void watch_files();
  void watch_shards();
  /// Returns the shard of a stalled poll thread, or nothing if no thread stalls.
  [[nodiscard]] std::optional<std::uint32_t> stalled_shard() const;
  void watch_reports();
  void watch_links();
  void watch_link(Side side);
  void follow_mtu(Side side);
  void log_statistics();
  void activate(const Policies& policies);
  /// True if every shard has published a snapshot, and none is stalled (see ShardWatch).
  [[nodiscard]] bool healthy();
  [[nodiscard]] std::string summary();
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  void reload_by_signal();
  void stop(EndReason ending, const std::string& why);

  Config config_;
  Logging& log_;
  /// value of logging.level in the configuration that was applied last
  LogLevel configured_level_ = config_.logging.level;
  boost::asio::io_context context_{1};
  boost::asio::signal_set signals_;
  std::unique_ptr<RunRecord> run_record_;  ///< null without state.file
  /// Watchdog process; null without fail_open. Declared before `eal_`, so that it starts before DPDK opens devices.
  std::unique_ptr<WatchdogProcess> watchdog_;
  dpdk::Eal eal_;
  packet::PacketPool pool_;
  std::array<std::unique_ptr<dpdk::Port>, 2> ports_;
  dpdk::RssSteering steering_;
  std::optional<FailOpenMonitor> fail_open_monitor_;  ///< set if a kernel bridge forwards frames after the program ends
  std::vector<std::unique_ptr<ShardChannel>> channels_;
  /// File of last frames; declared before the shards, which write to it.
  std::optional<capture::RingFile> last_frames_;
  /// Running captures; declared before the shards, which write frames to the captures' rings.
  std::optional<capture::Captures> captures_;
  /// Running decision logs (inputs and decisions of controllers); declared before the shards, which use their slots.
  std::optional<tracing::Traces> traces_;
  std::optional<StateFile> state_;  ///< state file; declared before the shards, which write to it
  std::vector<std::unique_ptr<ShardThread>> shards_;
  ShardWatch shard_watch_;
  ReportWatch report_watch_;
  std::array<packet::LinkLimit, 2> carried_{};  ///< maximum frame length that each port can carry, indexed by Side
  std::array<LinkWatch, 2> links_;              ///< indexed by Side
  /// reason for each port why its recreated interface cannot be used; empty if there is none; indexed by Side
  std::array<std::string, 2> link_problems_{};
  std::unique_ptr<FeedbackLink> feedback_;
  std::optional<IpfixExport> ipfix_;  ///< set if ended connections are exported
  std::optional<StatusSource> status_source_;
  std::optional<DetailCollector> details_;
  /// All policies activated since the start. Earlier policies are kept, because a connection may still refer to them.
  std::vector<std::unique_ptr<const Policies>> policies_;
  Reloader reloader_;
  std::optional<ShardCommands> commands_;
  std::optional<StopSequence> stop_;
  Service service_;
  CounterWatch watch_;
  boost::asio::steady_timer watch_timer_;
  boost::asio::steady_timer statistics_timer_;
  boost::asio::steady_timer stop_timer_;
  std::unique_ptr<admin::Server> admin_;
  std::optional<WebServer> web_;
  bool failed_ = false;
  EndReason end_reason_ = EndReason::failed;  ///< how the run ended, which run() sets and the destructor records
  bool state_lost_ = false;                   ///< true once the log reports that the state file is not written any more
  bool frames_lost_ = false;  ///< true once the log reports that last_frames.file is not written any more
};

}  // namespace sluice::proxy

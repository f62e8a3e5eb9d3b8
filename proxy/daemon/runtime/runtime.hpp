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

/// The running proxy: DPDK, two ports, the shards with their poll threads, and the control thread, which calls run().
/// The control thread handles feedback, admin socket, HTTP, log and signals. One object per process, because DPDK
/// allows only one.
class Runtime {
 public:
  /// Starts everything. `file` is the origin of the configuration and is read again at reload. Throws
  /// std::runtime_error with the failure and advice, after stopping what has started.
  Runtime(Config config, Logging& log, std::string file = {});
  /// Stops the shards, the ports and DPDK, in this order.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Runs until SIGTERM, SIGINT or the admin command `stop`, and until the drain that follows has ended (see
  /// StopSequence). Returns true then, and false if a shard failed, which is logged.
  [[nodiscard]] bool run();

 private:
  [[nodiscard]] dpdk::EalConfig eal_config() const;
  [[nodiscard]] std::unique_ptr<dpdk::Port> open_port(Side side);
  /// Reads how the last run ended, and begins the record of this run. Needs state.file.
  [[nodiscard]] std::unique_ptr<RunRecord> open_run_record() const;
  [[nodiscard]] admin::Json last_run() const;
  /// Creates the watchdog process, which kills this process when it hangs, if a fail-open bridge is configured.
  [[nodiscard]] std::unique_ptr<WatchdogProcess> start_watchdog() const;
  /// Creates the fail-open bridge if it is configured.
  void prepare_to_fail_open();
  /// Blocks the fail-open bridge, and drops frames received before, because the bridge forwarded them too.
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
  /// Appends the counters of the process itself.
  void add_program_counters(std::vector<NamedCounter>& out) const;
  /// Logs if another program truncated a mapped file, which is then lost.
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
  /// True if every shard publishes snapshots, so that none is stalled.
  [[nodiscard]] bool healthy();
  [[nodiscard]] std::string summary();
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  void reload_by_signal();
  void stop(Ending ending, const std::string& why);

  Config config_;
  Logging& log_;
  LogLevel configured_level_ = config_.logging.level;  ///< logging.level of the configuration that was applied last
  boost::asio::io_context context_{1};
  boost::asio::signal_set signals_;
  std::unique_ptr<RunRecord> run_record_;  ///< null without state.file
  std::unique_ptr<WatchdogProcess>
      /// Watchdog process; null without fail_open. Declared before `eal_`, because it must not share devices.
      watchdog_;
  dpdk::Eal eal_;
  packet::PacketPool pool_;
  std::array<std::unique_ptr<dpdk::Port>, 2> ports_;
  dpdk::RssSteering steering_;
  std::optional<FailOpenMonitor> fail_open_monitor_;  ///< set if a kernel bridge takes over when the program ends
  std::vector<std::unique_ptr<ShardChannel>> channels_;
  /// File of last frames; declared before the shards, which write to it.
  std::optional<capture::RingFile> last_frames_;
  std::optional<capture::Captures> captures_;  ///< running captures; declared before the shards, which use their taps
  std::optional<tracing::Traces> traces_;  ///< running decision logs; declared before the shards, which use their slots
  std::optional<StateFile> state_;         ///< state file; declared before the shards, which write to it
  std::vector<std::unique_ptr<ShardThread>> shards_;
  ShardWatch shard_watch_;
  ReportWatch report_watch_;
  std::array<packet::LinkLimit, 2> carried_{};  ///< maximum frame lengths of the ports, indexed by Side
  std::array<LinkWatch, 2> links_;              ///< indexed by Side
  std::array<std::string, 2> link_problems_{};  ///< reasons why a recreated interface cannot be bound, indexed by Side
  std::unique_ptr<FeedbackLink> feedback_;
  std::optional<IpfixExport> ipfix_;  ///< set if ended connections are exported
  std::optional<StatusSource> status_source_;
  std::optional<DetailCollector> details_;
  /// All policies since the start, because a connection may still refer to earlier ones.
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
  Ending ending_ = Ending::failed;  ///< end of the run as run() records it
  bool state_lost_ = false;         ///< true once the loss of the state file was logged
  bool frames_lost_ = false;        ///< true once the loss of the file of last frames was logged
};

}  // namespace sluice::proxy

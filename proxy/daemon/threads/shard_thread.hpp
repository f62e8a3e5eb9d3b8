#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/rss.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "proxy/daemon/threads/shard_channel.hpp"
#include "proxy/engine/shard/shard.hpp"

namespace sluice::proxy {

struct ShardThreadConfig {
  unsigned index = 0;
  std::optional<unsigned> cpu;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  /// longest sleep of the thread if one of its ports cannot wake it
  Duration longest_sleep = dpdk::PollPolicy::default_step;
  std::uint32_t burst = 32;
  std::optional<Duration> status_period;  ///< interval of status messages; not set if no feedback is configured
  /// counter that shows the watchdog process that the thread makes progress; null if there is no watchdog process
  std::atomic<std::uint64_t>* progress = nullptr;
};

/// A shard and its poll thread, which receives packets, runs the shard, and sleeps when there is no work.
class ShardThread {
 public:
  /// Creates the thread. All arguments must outlive this object. If the thread ends because of an error, the thread
  /// calls `failed` with an error message.
  ShardThread(const ShardThreadConfig& config, const ShardConfig& shard, packet::PacketPool& pool,
              dpdk::ShardPorts& ports, ShardChannel& channel, std::function<void(std::string)> failed,
              FlowJournal journal);
  /// Stops and joins the thread.
  ~ShardThread();
  ShardThread(const ShardThread&) = delete;
  ShardThread& operator=(const ShardThread&) = delete;

  /// Passes connections of an earlier run to the shard (see Shard::adopt_recovered()). Must be called before start().
  void adopt_recovered(std::span<const RecoveredConnection> recovered, const RunGap& gap) {
    shard_.adopt_recovered(recovered, gap);
  }
  void inherit(std::span<const CrashedConnection> crashed_connections, std::span<JournalEntry> entries, Duration keep) {
    shard_.inherit(crashed_connections, entries, keep);
  }
  void start();
  void stop();
  /// Returns the processor time that the thread has used, or nothing if the thread is not running. Thread: the control
  /// thread.
  [[nodiscard]] std::optional<Duration> processor_time();
  /// Wakes the thread because there is new data in its channel. Thread: any.
  void wake() noexcept { policy_.wake(); }

 private:
  /// Transmits the shard's packets through its ports and passes them to captures.
  class Output final : public Transmitter {
   public:
    explicit Output(dpdk::ShardPorts& ports) : ports_(ports) {}
    capture::ShardTaps* taps = nullptr;  ///< captures that record the sent frames; null if no capture runs
    void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
      if (taps != nullptr) [[unlikely]]
        taps->sent(out, burst, now);
      ports_.transmit(static_cast<dpdk::Facing>(out), burst);
    }

   private:
    dpdk::ShardPorts& ports_;
  };

  void run() noexcept;
  /// Sets the name, the processor and the scheduling priority of the thread.
  void prepare();
  void poll();
  bool take_packets(Side side, Instant now);
  void take_policies(Instant now);
  void take_ports(Instant now);
  void take_trace(Instant now);
  bool take_reports(Instant now);
  bool process_commands(Instant now);
  /// Queues the status messages of bearers for the control thread once per ShardThreadConfig::status_period. Queues
  /// them at once if `answer` is true, because Node-B reports were just applied, or if the control thread requests all
  /// statuses.
  void collect_statuses(Instant now, bool answer);
  [[nodiscard]] Instant next_deadline() const;
  void publish_when_due(Instant now);
  void publish(Instant now, const DetailRequest& wanted);

  ShardThreadConfig config_;
  dpdk::ShardPorts& ports_;
  ShardChannel& channel_;
  std::function<void(std::string)> failed_;
  Output output_;
  Shard shard_;
  /// Log of the inputs and decisions of the shard's controllers; null if none is running.
  control::DecisionLog* trace_ = nullptr;
  const Policies* policies_ = nullptr;  ///< policies that were last activated at run time; null if there were none
  dpdk::PollPolicy policy_;
  /// maximum frame length that the shard currently uses for each port, indexed by Side
  std::array<packet::LinkLimit, 2> carried_;
  std::vector<ReportArrival> reports_;  ///< buffer for the reports that one round of the poll loop processes
  std::vector<packet::Packet> burst_;
  std::vector<control::feedback::BearerStatus> statuses_;
  Instant next_status_{};
  /// true if status messages were lost in the last round of the poll loop, so that the next round sends the status of
  /// every bearer
  bool all_statuses_due_ = false;
  /// Time at which two things are sampled next: the states of flows, and the bytes acknowledged to one host and not by
  /// the other. This time is independent of snapshots that are published on request.
  Instant next_sample_{};
  Instant next_publication_{};
  std::uint32_t details_published_ = 0;
  /// id of the last command that was received; its result is published once the shard has completed it
  std::uint32_t command_taken_ = 0;
  bool order_found_ = false;             ///< true if the last command that named a UE found a connection of that UE
  std::uint32_t command_published_ = 0;  ///< id of the operator's last command whose result a snapshot contains
  StayingFlows staying_;
  std::uint64_t statuses_lost_ = 0;
  std::thread thread_;
};

}  // namespace sluice::proxy

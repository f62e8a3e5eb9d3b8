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
  Duration longest_sleep = dpdk::PollPolicy::default_step;  ///< maximum sleep if a port cannot wake the thread
  std::uint32_t burst = 32;
  std::optional<Duration> status_period;           ///< interval of statuses; not set without feedback
  std::atomic<std::uint64_t>* progress = nullptr;  ///< counter for the watchdog process; null without one
};

/// One shard with its poll thread, which receives packets, runs the shard and sleeps when idle.
class ShardThread {
 public:
  /// All arguments outlive the object. The thread calls `failed` with an error message if it ends by itself.
  ShardThread(const ShardThreadConfig& config, const ShardConfig& shard, packet::PacketPool& pool,
              dpdk::ShardPorts& ports, ShardChannel& channel, std::function<void(std::string)> failed,
              FlowJournal journal);
  /// Stops and joins the thread.
  ~ShardThread();
  ShardThread(const ShardThread&) = delete;
  ShardThread& operator=(const ShardThread&) = delete;

  /// Passes connections of an earlier run to the shard, see Shard::adopt_recovered(). Call it before start().
  void adopt_recovered(std::span<const RecoveredConnection> recovered, const RunGap& gap) {
    shard_.adopt_recovered(recovered, gap);
  }
  void inherit(std::span<const CrashedConnection> crashed_connections, std::span<JournalEntry> entries, Duration keep) {
    shard_.inherit(crashed_connections, entries, keep);
  }
  void start();
  void stop();
  /// Returns the processor time of the thread, or nothing if it does not run. Thread: the control thread.
  [[nodiscard]] std::optional<Duration> processor_time();
  /// Wakes the thread because the channel has new content. Any thread.
  void wake() noexcept { policy_.wake(); }

 private:
  /// Transmits the shard's packets through its ports and passes them to captures.
  class Output final : public Transmitter {
   public:
    explicit Output(dpdk::ShardPorts& ports) : ports_(ports) {}
    capture::ShardTaps* taps = nullptr;  ///< captures that observe sent frames; null if no capture runs
    void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
      if (taps != nullptr) [[unlikely]]
        taps->sent(out, burst, now);
      ports_.transmit(static_cast<dpdk::Facing>(out), burst);
    }

   private:
    dpdk::ShardPorts& ports_;
  };

  void run() noexcept;
  /// Sets name, processor and priority of the thread.
  void prepare();
  void poll();
  bool take_packets(Side side, Instant now);
  void take_policies(Instant now);
  void take_ports(Instant now);
  void take_trace(Instant now);
  bool take_reports(Instant now);
  bool process_commands(Instant now);
  /// Queues the statuses of bearers for the control thread when the period is over. Queues them at once if `answer` is
  /// true or the control thread requests them.
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
  control::LawTrace* trace_ = nullptr;  ///< decision log of the shard's controllers; null if none runs
  const Policies* policies_ = nullptr;  ///< policies activated since the start; null before the first
  dpdk::PollPolicy policy_;
  std::array<packet::LinkLimit, 2> carried_;  ///< maximum frame lengths of the ports that the shard uses at present
  std::vector<ReportArrival> reports_;        ///< buffer for the reports of one round
  std::vector<packet::Packet> burst_;
  std::vector<control::feedback::BearerStatus> statuses_;
  Instant next_status_{};
  /// True if status messages of the last round were lost, so that the next round contains all UEs.
  bool all_statuses_due_ = false;
  Instant next_sample_{};  ///< time of the next sample of exposure and flows; requests for details do not postpone it
  Instant next_publication_{};
  std::uint32_t details_published_ = 0;
  std::uint32_t command_taken_ =
      /// Id of the last command; its result is published when the shard has completed the command.
      0;
  bool order_found_ = false;             ///< true if the last command that named a UE found a connection of that UE
  std::uint32_t command_published_ = 0;  ///< id of the last command whose result was published
  StayingFlows staying_;
  std::uint64_t statuses_lost_ = 0;
  std::thread thread_;
};

}  // namespace sluice::proxy

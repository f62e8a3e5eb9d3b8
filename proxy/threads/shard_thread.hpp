#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/steering.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "proxy/shard/shard.hpp"
#include "proxy/threads/shard_channel.hpp"

namespace sluice::proxy {

struct ShardThreadConfig {
  unsigned index = 0;
  std::optional<unsigned> cpu;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  Duration longest_sleep = dpdk::PollPolicy::default_step;  ///< where a port cannot wake it
  std::uint32_t burst = 32;
  std::optional<Duration> status_period;  ///< how often statuses are collected; not at all when not set
};

/// One shard with its poll thread: takes packets from the ports, hands them to the shard, lets it work, rests.
class ShardThread {
 public:
  /// Everything given outlives this. `failed` is called from the thread with a sentence when it ends by itself.
  ShardThread(const ShardThreadConfig& config, const ShardConfig& shard, packet::PacketPool& pool,
              dpdk::ShardPorts& ports, ShardChannel& channel, std::function<void(std::string)> failed,
              FlowJournal journal);
  /// Stops and joins.
  ~ShardThread();
  ShardThread(const ShardThread&) = delete;
  ShardThread& operator=(const ShardThread&) = delete;

  /// Before start(): see Shard::take_up() and Shard::inherit().
  void take_up(std::span<const Survivor> survivors, const RunGap& gap) { shard_.take_up(survivors, gap); }
  void inherit(std::span<const Orphan> orphans, std::span<JournalEntry> entries, Duration keep) {
    shard_.inherit(orphans, entries, keep);
  }
  void start();
  void stop();
  /// Processor time of the thread since it began; nothing when it does not run. Thread: the control thread.
  [[nodiscard]] std::optional<Duration> processor_time();
  /// There is something in the channel: the thread need not sleep on. From any thread.
  void wake() noexcept { policy_.wake(); }

 private:
  /// Sends what the shard sends.
  class Output final : public Transmitter {
   public:
    explicit Output(dpdk::ShardPorts& ports) : ports_(ports) {}
    capture::ShardTaps* taps = nullptr;  ///< who looks; mostly nobody
    void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
      if (taps != nullptr) [[unlikely]]
        taps->sent(out, burst, now);
      ports_.transmit(static_cast<dpdk::Facing>(out), burst);
    }

   private:
    dpdk::ShardPorts& ports_;
  };

  void run() noexcept;
  void prepare();
  void poll();
  bool take_packets(Side side, Instant now);
  void take_policies(Instant now);
  void take_ports(Instant now);
  void take_trace(Instant now);
  bool take_reports(Instant now);
  bool take_orders(Instant now);
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
  control::LawTrace* trace_ = nullptr;  ///< that the laws are told to
  const Policies* policies_ = nullptr;  ///< put in force since the start
  dpdk::PollPolicy policy_;
  std::array<packet::LinkLimit, 2> carried_;  ///< what the ports carry, as the shard was told
  std::vector<ReportArrival> reports_;        ///< room for those of one round
  std::vector<packet::Packet> burst_;
  std::vector<control::feedback::BearerStatus> statuses_;
  Instant next_status_{};
  bool tell_all_ = false;  ///< some statuses of the last round were lost
  Instant next_publication_{};
  std::uint32_t details_published_ = 0;
  std::uint32_t order_taken_ = 0;      ///< its outcome is published once the shard is through with it
  std::uint32_t order_published_ = 0;  ///< … and was
  StayingFlows staying_;
  std::uint64_t statuses_lost_ = 0;
  std::thread thread_;
};

}  // namespace sluice::proxy

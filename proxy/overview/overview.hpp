#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/steering.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/admin/command.hpp"
#include "proxy/config/config.hpp"
#include "proxy/fail_open/fail_open_bridge.hpp"
#include "proxy/threads/feedback_link.hpp"
#include "proxy/threads/shard_channel.hpp"
#include "proxy/watch/counter_watch.hpp"
#include "proxy/watch/link_watch.hpp"
#include "proxy/watch/shard_watch.hpp"

namespace sluice::proxy {

/// The running program as the control thread sees it, gathered from the shards' snapshots, ports and feedback.
/// Everything it refers to outlives it. Thread: the control thread.
class Overview {
 public:
  struct Parts {
    const Config* config;
    std::vector<ShardChannel*> channels;
    std::array<const dpdk::Port*, 2> ports;  ///< by Side
    dpdk::Steering* steering;
    const packet::PacketPool* pool;
    const FeedbackLink* feedback;  ///< null when there is none
    const ShardWatch* watch;
    std::array<const LinkWatch*, 2> links;  ///< by Side
    const FailOpenBridge* bridge;           ///< null where fail_open is none
    Instant started;
    /// Appends counters that neither a shard nor a port has.
    std::function<void(std::vector<NamedCounter>& out)> add_program_counters = [](std::vector<NamedCounter>&) {};
  };
  explicit Overview(Parts parts) : parts_(std::move(parts)) {}

  /// Takes the newest snapshot of every shard.
  void refresh();
  /// The counters of the shards, summed.
  [[nodiscard]] Counters totals() const;
  /// One of them.
  [[nodiscard]] std::uint64_t count(Counter counter) const { return totals()[counter]; }
  /// Every counter of the program: of the shards (summed), ports, steering, feedback and the process.
  [[nodiscard]] std::vector<NamedCounter> counters() const;
  /// Answers of the admin commands.
  [[nodiscard]] admin::Json status() const;
  [[nodiscard]] admin::Json counters_by_name() const;
  /// One of them; the shards' own also without "proxy." before the name.
  [[nodiscard]] admin::Answer counter(const std::string& name) const;
  [[nodiscard]] admin::Json ports() const;
  [[nodiscard]] admin::Json shards() const;
  [[nodiscard]] admin::Json groups() const;
  [[nodiscard]] admin::Json exposure() const;
  /// One line for the log: totals, and rates since the line before.
  [[nodiscard]] std::string statistics_line();

  [[nodiscard]] const std::vector<ShardChannel*>& channels() const { return parts_.channels; }
  /// What it was made of.
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t flow_count() const;
  [[nodiscard]] std::uint64_t bearer_count() const;
  [[nodiscard]] std::uint64_t released_count() const;
  [[nodiscard]] bool draining() const;
  [[nodiscard]] std::uint64_t standing_count() const;
  /// What the UEs outside the control group came to, or those in it.
  [[nodiscard]] GroupTotals group(std::size_t index) const;
  /// Likewise, how long things took.
  [[nodiscard]] GroupTimes times(std::size_t index) const;
  /// Connections and bearers by their states.
  [[nodiscard]] CensusCounts census() const;
  [[nodiscard]] std::uint64_t end_to_end_count() const;
  /// Bytes acknowledged and not delivered, by samples.
  [[nodiscard]] Histogram exposed() const;

 private:
  void add_shard_counters(std::vector<NamedCounter>& out) const;
  void add_port_counters(std::vector<NamedCounter>& out) const;
  void add_feedback_counters(std::vector<NamedCounter>& out) const;
  [[nodiscard]] admin::Json fail_open() const;

  Parts parts_;
  Instant last_line_{};
  std::array<dpdk::PortCounters, 2> last_ports_{};
};

[[nodiscard]] admin::Json to_json(const FlowInfo& flow);
/// `now`: for how old its last report is.
[[nodiscard]] admin::Json to_json(const BearerInfo& bearer, Instant now);

}  // namespace sluice::proxy

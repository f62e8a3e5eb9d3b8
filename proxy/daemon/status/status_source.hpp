#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/rss.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/config/config.hpp"
#include "proxy/daemon/fail_open/fail_open_bridge.hpp"
#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/daemon/status/link_watch.hpp"
#include "proxy/daemon/status/shard_watch.hpp"
#include "proxy/daemon/status/traffic_view.hpp"
#include "proxy/daemon/threads/feedback_link.hpp"
#include "proxy/daemon/threads/shard_channel.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// State of the running program for status displays. The control thread derives the state from the shards' snapshots,
/// the ports and the feedback protocol. All referenced objects must outlive this object. Thread: the control thread.
class StatusSource {
 public:
  struct Parts {
    const Config* config;
    std::vector<ShardChannel*> channels;
    std::array<const dpdk::Port*, 2> ports;  ///< both ports, indexed by Side
    dpdk::RssSteering* steering;
    const packet::PacketPool* pool;
    /// the program's end of the feedback protocol; null if the protocol is not configured
    const FeedbackLink* feedback;
    const ShardWatch* watch;
    std::array<const LinkWatch*, 2> links;  ///< link states of both ports, indexed by Side
    const FailOpenBridge* bridge;           ///< fail-open bridge; null if fail_open is none
    Instant started;
    /// Appends the counters that belong neither to a shard nor to a port.
    std::function<void(std::vector<NamedCounter>& out)> add_program_counters = [](std::vector<NamedCounter>&) {};
    admin::Json last_run = nullptr;  ///< how the last run ended, as JSON; null if this is unknown
  };
  explicit StatusSource(Parts parts) : parts_(std::move(parts)) {}

  /// Fetches the newest snapshot of every shard. All other functions return values from these snapshots.
  void refresh();
  /// Returns the counters of all shards, summed.
  [[nodiscard]] Counters totals() const;
  /// Returns one counter, summed over all shards.
  [[nodiscard]] std::uint64_t count(Counter counter) const { return totals()[counter]; }
  /// Returns every counter of the program: the shards' counters (summed), and those of ports, RSS steering, feedback
  /// and process.
  [[nodiscard]] std::vector<NamedCounter> counters() const;
  /// Returns the answer to the admin command `status`.
  [[nodiscard]] admin::Json status() const;
  [[nodiscard]] admin::Json counters_by_name() const;
  /// Returns the counter with this name. For counters of the shards, the prefix "proxy." may be left out. If there is
  /// none, returns all counters whose names begin with `name`, or a failure with a suggestion.
  [[nodiscard]] admin::Answer counter(const std::string& name) const;
  [[nodiscard]] admin::Json ports() const;
  [[nodiscard]] admin::Json shards() const;
  [[nodiscard]] admin::Json groups() const;
  [[nodiscard]] admin::Json exposure() const;
  [[nodiscard]] admin::Json traffic() const { return traffic_rows(totals()); }
  /// Returns the flows with the most bytes among those that are forwarded without control, at most `limit`, taken from
  /// all shards.
  [[nodiscard]] admin::Json passing(std::size_t limit) const;
  /// Returns one line for the log, with totals and with the rates since the previous line.
  [[nodiscard]] std::string statistics_line();

  [[nodiscard]] const std::vector<ShardChannel*>& channels() const { return parts_.channels; }
  /// Returns the objects from which the state is derived.
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t flow_count() const;
  [[nodiscard]] std::uint64_t bearer_count() const;
  [[nodiscard]] std::uint64_t released_count() const;
  [[nodiscard]] bool draining() const;
  [[nodiscard]] std::uint64_t standing_count() const;
  /// Returns totals of the radio queues of one group of UEs. `index` is 0 for the UEs that rate controllers may limit,
  /// and 1 for the control group, which they never limit.
  [[nodiscard]] GroupTotals group(std::size_t index) const;
  /// Returns duration histograms of one group of UEs. `index` is 0 for the UEs that rate controllers may limit, and 1
  /// for the control group, which they never limit.
  [[nodiscard]] GroupTimes times(std::size_t index) const;
  /// Returns the numbers of connections and bearers by state, summed over all shards.
  [[nodiscard]] FlowStateCounts flow_state_counts() const;
  [[nodiscard]] std::uint64_t end_to_end_count() const;
  /// Returns the histogram of the bytes that are acknowledged to one host but not by the other, from samples of all
  /// shards.
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
/// Returns the snapshot of a bearer as JSON. The age of the last Node-B report about it is computed at the time `now`.
[[nodiscard]] admin::Json to_json(const BearerInfo& bearer, Instant now);

}  // namespace sluice::proxy

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/flow/sip_hash.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/histogram.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/base/times.hpp"
#include "proxy/engine/base/transmitter.hpp"
#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/engine/flow_table/flow_journal.hpp"
#include "proxy/engine/flow_table/flow_stats.hpp"

namespace sluice::control {
class DecisionLog;
}

namespace sluice::proxy {

class PacketObserver;

/// The part of the proxy that one poll thread runs, with its own flows, bearers and timers. A shard reads no clock and
/// uses no device. The same class therefore runs with DPDK, and in the simulated network with virtual time. Thread:
/// one.
class Shard {
 public:
  /// Creates the shard. `secret` is the key of the hash tables, so that attackers cannot choose connections that
  /// collide. `origin` is not later than any time that is passed in later. `journal` stores the connections, so that
  /// the next run can handle them after a crash. Throws std::bad_alloc.
  Shard(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
        Instant origin, FlowJournal journal = {});
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// Accepts crashed connections of an earlier run, whose hosts must be reset because acknowledged bytes are lost.
  /// `entries` are their entries in the state file in the same order, or empty. For the time `keep`, an ACK of such a
  /// host is answered by a RST. Must be called before other functions. Throws std::bad_alloc.
  void inherit(std::span<const CrashedConnection> crashed_connections, std::span<JournalEntry> entries, Duration keep);

  /// Accepts connections of an earlier run that have lost no data. They are forwarded unchanged, and can be split again
  /// like connections that were handed back to their hosts. Must be called before other functions.
  void adopt_recovered(std::span<const RecoveredConnection> recovered, const RunGap& gap);

  /// Passes a record of each connection that ends to `sink`, which must outlive the shard. Must be called before other
  /// functions.
  void record_connections(ConnectionSink& sink);

  /// Processes all frames that were received on `in`. Afterwards `burst` contains only empty handles, and all resulting
  /// packets have been passed to the transmitter.
  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  /// Processes a burst like receive(), and notifies `observer` of each frame.
  void receive_observed(Side in, std::span<packet::Packet> burst, Instant now, PacketObserver& observer);
  /// Handles expired timers, and sends what earlier Node-B reports allow. Takes little time if nothing is due. One call
  /// handles a limited number of timers. If more have expired, next_deadline() then returns a time in the past.
  void advance(Instant now);
  /// Returns the time by which advance() must be called; `never` if no work is pending.
  [[nodiscard]] Instant next_deadline() const;

  /// Applies Node-B reports, which must have passed authentication and replay checks, in order of arrival. Several
  /// reports in one call cost less than single ones, because the state for later reports is prefetched. Implausible
  /// values in `reports` are limited in place.
  void on_reports(std::span<ReportArrival> reports, Instant now);
  /// Handles omission notices. Such a notice of a Node-B states that it has omitted only UEs whose state is unchanged.
  void on_omissions(std::span<const OmissionNotice> omissions, Instant now);
  void on_report(ReportArrival report, Instant now) { on_reports({&report, 1}, now); }
  /// Appends one status for each UE, for messages to the Node-B. If `all` is false, includes only UEs whose status has
  /// changed since the last call.
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);

  /// Activates other policies, also for existing connections. Each connection continues under its new controller, which
  /// starts from the values measured before. A split connection whose new policy does not split is handed back to its
  /// hosts. An end-to-end connection whose new policy splits is split when it is idle. Endpoints of existing
  /// connections keep their configuration. `policies` must outlive the shard.
  void apply(const Policies& policies, Instant now);
  /// Changes the maximum frame length of the port on `side`, because its MTU has changed. Existing connections adapt
  /// their segment size.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);

  /// Returns the totals of Node-B reports for two groups: UEs that rate controllers may limit, and the control group,
  /// which they never limit.
  [[nodiscard]] GroupStatistics groups() const;
  /// Hands the split connections of one UE, or of all UEs, back to their hosts. Each connection is released as soon as
  /// its hosts cannot notice the handback. Returns false if the UE has no connection: neither one that the shard
  /// processes nor a released one.
  bool release(const std::optional<IpAddress>& ue, Instant now);
  /// Starts a drain, or ends it if `on` is false. In a drain, all split connections are handed back to their hosts, and
  /// no new ones are split.
  void drain(bool on);
  /// Requests that connections which were handed back to their hosts are split again, each as soon as it is idle. `ue`
  /// selects one UE; if not set, the request applies to all UEs. After a handback because of idleness, scarce buffers
  /// or a drain, connections are split again without this call. Returns false if the UE has no connection.
  bool split_again(const std::optional<IpAddress>& ue);
  /// Ends a drain at once by ending every connection that is still split. If each host has received all data that was
  /// acknowledged to the other one, the segments of the connection are forwarded unchanged from now on. Otherwise both
  /// of its hosts are reset. No new connections are split.
  void abort_all();
  [[nodiscard]] bool draining() const;
  /// True while a scan over all flows is in progress. The scan requests the handback of each flow to its hosts, cancels
  /// such requests, or ends the flows. advance() continues it.
  [[nodiscard]] bool scan_in_progress() const;
  /// Counts the connections that are still split, by what prevents their handback to the hosts. Visits every flow.
  [[nodiscard]] StayingFlows staying() const;

  /// Records the controllers' inputs and decisions for the UE that `trace` selects. With null, ends the recording.
  void trace(control::DecisionLog* trace);
  /// Adds samples of the ACK exposure (bytes acknowledged to one host and not by the other) of the next `most` flows to
  /// exposure().
  void sample_exposure(std::uint32_t most);
  /// Returns the histogram of the bytes acknowledged to one host and not by the other (ACK exposure), which
  /// sample_exposure() has filled.
  [[nodiscard]] const Histogram& exposure() const;
  /// Counts the states of the next `most` flows and of the next `most` bearers, and samples their round-trip and
  /// queueing times. flow_state_counts() and times_taken() return the results.
  void sample_flow_stats(std::uint32_t most, Instant now);
  [[nodiscard]] const FlowStateCounts& flow_state_counts() const;
  [[nodiscard]] const Times& times_taken() const;
  /// Returns the number of end-to-end connections. flow_count() includes them.
  [[nodiscard]] std::uint32_t end_to_end_count() const;
  [[nodiscard]] const Counters& counters() const;
  [[nodiscard]] std::uint32_t flow_count() const;
  [[nodiscard]] std::uint32_t bearer_count() const;
  /// Returns the number of connections that were handed back to their hosts and are still tracked while they are
  /// forwarded. The maximum is a quarter of limits.max_flows, but at least 16.
  [[nodiscard]] std::uint32_t released_count() const;
  /// Appends snapshots of all flows to `out`, until `out` has `limit` entries.
  void describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const;
  void describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const;
  /// Appends those flows that are forwarded without control and have the most bytes to `out`, at most max_passing.
  void describe_passing(std::vector<PassingInfo>& out, Instant now) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::proxy

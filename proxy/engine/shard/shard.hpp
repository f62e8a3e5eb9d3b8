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
class LawTrace;
}

namespace sluice::proxy {

class PacketObserver;

/// Part of the proxy that one poll thread runs: flows, bearers (states of UEs) and timers. The shard reads no clock and
/// accesses no device, so one class runs under DPDK and in the virtual-time network. Thread: one.
class Shard {
 public:
  /// Creates the shard. `secret` keys the hash tables, so that attackers cannot choose colliding connections. `origin`
  /// is no later than any time passed in afterwards. `journal` stores the connections, so that a later run can handle
  /// them after a crash. Throws std::bad_alloc.
  Shard(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
        Instant origin, FlowJournal journal = {});
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// Takes over connections of an earlier run that must be reset. `entries` are their journal entries in the same
  /// order, or empty. Segments of their hosts are answered for the time `keep`. Call before any other function. Throws
  /// std::bad_alloc.
  void inherit(std::span<const CrashedConnection> crashed_connections, std::span<JournalEntry> entries, Duration keep);

  /// Takes over connections of an earlier run that lost no data. They are forwarded unchanged and can be split again
  /// later, like connections that were handed back to their hosts. Call before any other function.
  void adopt_recovered(std::span<const RecoveredConnection> recovered, const RunGap& gap);

  /// Passes a record of each connection that ends to `sink`, which outlives the shard. Call before any other function.
  void record_connections(ConnectionSink& sink);

  /// Processes all frames received on `in`. On return `burst` holds only empty handles, and the transmitter has every
  /// resulting packet.
  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  /// Processes a burst like receive(), and notifies the observer of each frame.
  void receive_observed(Side in, std::span<packet::Packet> burst, Instant now, PacketObserver& observer);
  /// Runs due timers, and sends the data that earlier Node-B reports allow to be sent. Cheap when nothing is due. If
  /// too much is due at once, the call does a part of the work, and next_deadline() returns a time that has passed.
  void advance(Instant now);
  /// Returns when advance() must be called at the latest, or `never` if nothing is pending.
  [[nodiscard]] Instant next_deadline() const;

  /// Applies Node-B reports that passed authentication and replay checks, in order of arrival. A batch costs less than
  /// single reports, because the state for later reports of the batch is prefetched. Implausible amounts in `reports`
  /// are bounded in place.
  void on_reports(std::span<ReportArrival> reports, Instant now);
  /// Handles omission notices: Node-Bs that report only changed UEs confirm that omitted UEs are unchanged.
  void on_omissions(std::span<const OmissionNotice> omissions, Instant now);
  void on_report(ReportArrival report, Instant now) { on_reports({&report, 1}, now); }
  /// Appends one status (message to the Node-B) for each UE that changed since the last call, or for every UE if `all`
  /// is true.
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);

  /// Activates these policies, for running connections too. Each connection continues under its new controller from the
  /// values measured under the old one. Split connections that may no longer be split are handed back to their hosts.
  /// End-to-end connections whose policy splits are split when both directions are idle. Endpoints of running
  /// connections keep their configuration. `policies` outlives the shard.
  void apply(const Policies& policies, Instant now);
  /// Changes the maximum frame length of the port on `side`, because its MTU was changed. Running connections adapt
  /// their segments.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);

  /// Returns the totals of the Node-B reports, for the UEs that rate controllers limit and for the control group.
  [[nodiscard]] GroupStatistics groups() const;
  /// Hands the split connections of one UE, or of all UEs, back to their hosts. Each connection is released as soon as
  /// its hosts do not notice that. Returns false if the UE has no connection, neither one that the shard processes nor
  /// a released one that it tracks.
  bool release(const std::optional<IpAddress>& ue, Instant now);
  /// Hands all split connections back to their hosts and stops splitting new ones, until drain(false).
  void drain(bool on);
  /// Requests that released connections (handed back to their hosts) of one UE, or of all UEs, are split again, each
  /// when it is idle. Connections released because of idleness, low buffers or a drain are split again without this
  /// call when the cause has ended. Returns false if the UE has no connection.
  bool split_again(const std::optional<IpAddress>& ue);
  /// Ends a drain (handback of all connections): stops splitting new connections and ends every split one at once. A
  /// connection of which no bytes are held is forwarded unchanged from now on; any other is reset on both sides.
  void abort_all();
  [[nodiscard]] bool draining() const;
  /// True while a scan over all flows still requests or cancels their handback; advance() continues the scan.
  [[nodiscard]] bool sweeping() const;
  /// Counts the remaining split connections by the obstacle that prevents their handback to the hosts. Visits every
  /// flow.
  [[nodiscard]] StayingFlows staying() const;

  /// Records the controllers' decisions for the UE that `trace` selects, until the next call; null ends the recording.
  void trace(control::LawTrace* trace);
  /// Adds the ACK exposure (acknowledged but undelivered bytes) of up to `most` flows to exposure(). The next call
  /// continues with the next flows.
  void sample_exposure(std::uint32_t most);
  /// Returns the histogram of the ACK exposure (acknowledged but undelivered bytes) that sample_exposure() has added.
  [[nodiscard]] const Histogram& exposure() const;
  /// Samples up to `most` flows and bearers (states of UEs) for flow_state_counts() and times_taken(). The next call
  /// continues with the next ones.
  void sample_flow_stats(std::uint32_t most, Instant now);
  [[nodiscard]] const FlowStateCounts& flow_state_counts() const;
  [[nodiscard]] const Times& times_taken() const;
  /// Returns the number of end-to-end connections, which flow_count() includes.
  [[nodiscard]] std::uint32_t end_to_end_count() const;
  [[nodiscard]] const Counters& counters() const;
  [[nodiscard]] std::uint32_t flow_count() const;
  [[nodiscard]] std::uint32_t bearer_count() const;
  /// Returns the number of released connections (handed back to their hosts) that are tracked while they pass: at most
  /// a quarter of limits.max_flows, but at least 16.
  [[nodiscard]] std::uint32_t released_count() const;
  /// Appends snapshots of flows to `out` until it has `limit` entries.
  void describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const;
  void describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const;
  /// Appends the largest flows that are forwarded without control, at most max_passing.
  void describe_passing(std::vector<PassingInfo>& out, Instant now) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::proxy

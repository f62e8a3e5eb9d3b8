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
#include "proxy/flows/census.hpp"
#include "proxy/flows/flow_journal.hpp"
#include "proxy/flows/times.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/histogram.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/report_arrival.hpp"
#include "proxy/shard/side.hpp"
#include "proxy/shard/transmitter.hpp"

namespace sluice::control {
class LawTrace;
}

namespace sluice::proxy {

class FrameWatch;

/// One poll thread's share of the proxy: flows, bearers, timers. Reads no clock and touches no device, so the same
/// object runs under DPDK and in the virtual-time network. Thread: one.
class Shard {
 public:
  /// `secret` keeps outsiders from choosing connections that collide in the tables; `origin` is not later than any time
  /// that is passed in afterwards. `journal` is told what a later run must know. Throws std::bad_alloc.
  Shard(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
        Instant origin, FlowJournal journal = {});
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// Before anything else: connections of an earlier run that are to be reset, with the journal's entries of them, one
  /// for one, or none. For as long as `keep` their hosts are answered when they speak. Throws std::bad_alloc.
  void inherit(std::span<const Orphan> orphans, std::span<JournalEntry> entries, Duration keep);

  /// Before anything else: connections of an earlier run that lost nothing. They pass, and are split again like those
  /// that were released, later.
  void take_up(std::span<const Survivor> survivors, const RunGap& gap);

  /// Takes frames that came in on `in`, every one: nothing stays in `burst`, and everything they cause to be sent has
  /// been handed to the transmitter on return.
  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  /// The same while somebody looks at the frames.
  void receive_watched(Side in, std::span<packet::Packet> burst, Instant now, FrameWatch& watch);
  /// Runs what is due: timers, and flows that may send because of reports. Cheap when nothing is. Where much is due at
  /// once it does a part of it, and next_deadline() has come already.
  void advance(Instant now);
  /// When advance() must be called at the latest; never when nothing is pending.
  [[nodiscard]] Instant next_deadline() const;

  /// Reports that passed authentication and replay checks, in the order in which they came: many at once cost less than
  /// one by one, since what the next are about is fetched meanwhile. Their amounts are made plausible in place.
  void on_reports(std::span<ReportArrival> reports, Instant now);
  /// What Node-Bs say of UEs that their reports leave out.
  void on_words(std::span<const SenderWord> words, Instant now);
  void on_report(ReportArrival report, Instant now) { on_reports({&report, 1}, now); }
  /// What the Node-B is to be told of the bearers that changed since the last call (all, when `all`).
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);

  /// Puts these treatments in force, for running connections too: each goes on under its new law from what was measured
  /// under the old one. What is split and is not to be is handed back to its hosts; what is end to end and is to be
  /// split is split when both directions are quiet. Endpoints of running connections keep their configuration.
  /// `policies` outlives the shard.
  void apply(const Policies& policies, Instant now);
  /// The port of that side carries frames of another length from now on: its MTU was changed. What is sent there
  /// follows, on running connections too.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);

  /// What the control group and the others came to.
  [[nodiscard]] const GroupStatistics& groups() const;
  /// Hands the split connections of a UE (of all) back to plain forwarding, each as soon as its hosts cannot tell.
  void release(const std::optional<IpAddress>& ue, Instant now);
  /// The same for all, and new connections are not split any more, until drain(false).
  void drain(bool on);
  /// Connections of a UE (of all) that were handed back are split again, each when it is quiet. Those that went because
  /// they were silent, buffers were short or the proxy drained come back by themselves when that is over.
  void split_again(const std::optional<IpAddress>& ue);
  /// Ends what draining has not: new connections are not split, and every one that still is goes in this moment.
  /// Those of which nothing is held pass untouched from then on, the others are reset on both sides.
  void abort_all();
  [[nodiscard]] bool draining() const;
  /// Flows are still being asked to go, or to stay; advance() goes on with it.
  [[nodiscard]] bool sweeping() const;
  /// Looks at every flow.
  [[nodiscard]] StayingFlows staying() const;

  /// Who wants to know from now on what the laws of a UE decide, until the next call; null: nobody.
  void trace(control::LawTrace* trace);
  /// Enters how many bytes are acknowledged and not delivered, of up to `most` flows; others have their turn next.
  void sample_exposure(std::uint32_t most);
  [[nodiscard]] const Histogram& exposure() const;
  /// Looks at up to `most` flows and bearers, those next in turn, for census() and times_taken().
  void take_census(std::uint32_t most);
  [[nodiscard]] const CensusCounts& census() const;
  [[nodiscard]] const Times& times_taken() const;
  /// Of flow_count(), connections that stay end to end.
  [[nodiscard]] std::uint32_t end_to_end_count() const;
  [[nodiscard]] const Counters& counters() const;
  [[nodiscard]] std::uint32_t flow_count() const;
  [[nodiscard]] std::uint32_t bearer_count() const;
  /// Connections that were released and are tracked while they pass; a quarter of limits.max_flows at most (16 at
  /// least).
  [[nodiscard]] std::uint32_t released_count() const;
  /// Snapshots for observers; at most `limit` entries.
  void describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const;
  void describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::proxy

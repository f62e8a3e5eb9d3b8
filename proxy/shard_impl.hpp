#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/receive_window_loop.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "proxy/demand.hpp"
#include "proxy/governed_flow.hpp"
#include "proxy/half_open.hpp"
#include "proxy/histogram.hpp"
#include "proxy/leg_output.hpp"
#include "proxy/memory_budget.hpp"
#include "proxy/newcomers.hpp"
#include "proxy/orphans.hpp"
#include "proxy/registry.hpp"
#include "proxy/regulator.hpp"
#include "proxy/relay.hpp"
#include "proxy/released.hpp"
#include "proxy/shard.hpp"
#include "proxy/transmit_queue.hpp"

namespace sluice::proxy {

/// What a shard is made of. The work is split over files by the way a packet takes:
/// shard_receive.cpp (frames in, who they belong to), shard_opening.cpp (connections that begin), shard_flows.cpp
/// (serving split connections), shard_bearers.cpp (reports and allowances), shard_windows.cpp (laws that give each flow
/// a window), shard.cpp (the rest).
class Shard::Impl {
 public:
  Impl(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
       Instant origin, FlowJournal journal);
  ~Impl();

  void inherit(std::span<const Orphan> orphans, std::span<JournalEntry> entries, Duration keep);

  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  void advance(Instant now);
  [[nodiscard]] Instant next_deadline() const;
  void on_report(const ReportArrival& report, Instant now);
  void apply(const Policies& policies, Instant now);
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all);
  void describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const;
  void describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const;

  [[nodiscard]] const GroupStatistics& groups() const { return groups_; }
  void release(const std::optional<IpAddress>& ue, Instant now);
  void want_back(const std::optional<IpAddress>& ue) { released_.want(ue); }
  void drain(bool on);
  void abort_all();
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool sweeping() const { return sweep_.active; }
  [[nodiscard]] StayingFlows staying() const;
  void sample_exposure(std::uint32_t most);
  [[nodiscard]] const Histogram& exposure() const { return exposure_; }

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint32_t flow_count() const { return registry_.flows().size() + regulator_.size(); }
  [[nodiscard]] std::uint32_t bearer_count() const { return registry_.bearers().size(); }
  [[nodiscard]] std::uint32_t released_count() const { return released_.size(); }

 private:
  static constexpr std::size_t burst_size = 32;
  /// So many SYNs, and answers to them, of one burst may make work; further ones pass. A burst that is full of both
  /// costs no more than one of data then.
  static constexpr std::uint32_t most_beginnings = 16;

  // shard_receive.cpp
  [[gnu::flatten]] void receive_chunk(Side in, std::span<packet::Packet> burst, Instant now);
  void handle(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
              Registry::ConnectionId id, Instant now);
  /// A packet that belongs to no connection yet, to one that begins or goes, or is no TCP segment at all.
  [[gnu::cold, gnu::noinline]] void handle_other(Side in, packet::Packet&& packet, packet::ParseResult result,
                                                 const packet::Parsed& parsed, Registry::ConnectionId id, Instant now);
  [[gnu::cold, gnu::noinline]] void forward(Side in, packet::Packet&& packet, packet::ParseResult result,
                                            const packet::Parsed& parsed, Counter reason, Instant now);
  [[gnu::cold, gnu::noinline]] void handle_unparsed(Side in, packet::Packet&& packet, packet::ParseResult result,
                                                    const packet::Parsed& parsed, Instant now);
  [[gnu::cold, gnu::noinline]] void handle_new(Side in, packet::Packet&& packet, packet::ParseResult result,
                                               const packet::Parsed& parsed, Instant now);
  void note_syn(const FirstSyn& first);
  /// A segment of a connection of which at most SYNs have been seen. True when it has been passed on.
  [[nodiscard, gnu::cold, gnu::noinline]] bool meet_answer(Side in, packet::Packet& packet, packet::ParseResult result,
                                                           const packet::Parsed& parsed, const flow::FlowKey& key,
                                                           Instant now);
  void begin_answered(Side in, packet::Packet& packet, packet::ParseResult result, const packet::Parsed& parsed,
                      const FirstSyn& first, Instant now);
  [[nodiscard]] std::optional<Counter> reason_not_to_begin(PolicyIndex policy);
  [[nodiscard]] bool may_begin() { return beginnings_left_ != 0 && beginnings_left_-- != 0; }
  [[nodiscard]] bool begin(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// A SYN whose number is not that of the connection its addresses name: noted. A SYN-ACK that answers such a one: the
  /// old connection is over, a new one begins. True when the packet has been passed on.
  [[gnu::cold, gnu::noinline]] bool meet_newcomer(Side in, packet::Packet& packet, packet::ParseResult result,
                                                  const packet::Parsed& parsed, const flow::FlowKey& key, Instant now);
  void forget(const flow::FlowKey& key, Instant now);
  /// Of a connection that passes end to end and is followed.
  [[gnu::noinline]] void regulate(Side in, packet::Packet&& packet, packet::ParseResult result,
                                  const packet::Parsed& parsed, RegulatedId id, Instant now);
  void let_pass(Side in, packet::Packet&& packet, packet::ParseResult result, const packet::Parsed& parsed,
                RegulatedId id, Instant now);
  [[gnu::cold, gnu::noinline]] void leave_end_to_end(Side in, packet::Packet&& packet, packet::ParseResult result,
                                                     const packet::Parsed& parsed, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void track_handshake(Side in, packet::Packet&& packet, packet::ParseResult result,
                                                    const packet::Parsed& parsed, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void take_over(Side in, packet::Packet&& packet, const packet::Parsed& parsed, FlowId id,
                                              Instant now);
  void begin_split(Flow& flow, FlowId id, Bearer& bearer);
  void take_in(Side in, packet::Packet&& packet, const packet::Parsed& parsed, FlowId id, Instant now);
  bool take_segment(Side in, packet::Packet&& packet, const packet::Parsed& parsed, Flow& flow, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void take_rerouted(Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                                                  Flow& flow, FlowId id, Instant now);
  [[nodiscard]] std::array<const tcp::EndpointConfig*, 2> endpoint_configs(FlowId id);
  /// A window promised cannot be taken back: the last word of the handshake must not promise more than the relay holds.
  [[nodiscard]] bool clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const;
  [[nodiscard]] bool checksum_acceptable(Side in, packet::ChecksumState state);
  [[nodiscard]] bool handshake_damaged(Side in, const packet::Packet& packet, const packet::Parsed& parsed) const;
  [[nodiscard]] ConnectionView view_of(Side in, const packet::Parsed& parsed) const;
  [[nodiscard]] std::optional<Counter> reason_not_to_track(Side in, const packet::Packet& packet,
                                                           const packet::Parsed& parsed,
                                                           packet::ParseResult result) const;
  [[nodiscard]] FlowId open_flow(const flow::FlowKey& key, PolicyIndex policy, Instant now);
  void displace(const AgeRing::Entry& oldest, Instant now);
  [[nodiscard]] bool is_ue(const IpAddress& address) const;

  // shard_flows.cpp
  void mark(Flow& flow, FlowId id, Streams streams);
  [[gnu::flatten]] void serve_marked(Instant now);
  void serve(Flow& flow, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void serve_troubled(Flow& flow, FlowId id, Instant now);
  /// Before anything leaves that acknowledges: the journal must not say less than the hosts are told.
  void keep_journal(Flow& flow, FlowId id) {
    if (const bool exposed = relay::exposing(flow); exposed != flow.journaled) write_journal(flow, id, exposed);
  }
  [[gnu::noinline]] void write_journal(Flow& flow, FlowId id, bool exposed) {
    flow.journaled = exposed;
    journal_.note(id, flow, exposed);
  }
  void emit(Flow& flow, Bearer& bearer, Instant now);
  [[gnu::cold, gnu::noinline]] void emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  void emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Instant now);
  void update_window_of_ue(Flow& flow, const Bearer& bearer, Instant now);
  void update_window_of_server(Flow& flow, Bearer& bearer, Instant now);
  // shard_exposure.cpp
  [[nodiscard]] bool exposure_capped(const Flow& flow) const;
  void hold_acknowledgements(Flow& flow) const;
  void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) const;
  void allow_acknowledgements(Flow& flow, Bearer& bearer);
  // shard_flows.cpp
  [[nodiscard]] Bytes first_window(const Flow& flow, Side from) const;
  [[nodiscard]] control::ReceiveWindowLoop* second_loop(Flow& flow, const Bearer& bearer, Bytes held);
  [[nodiscard]] static Bytes steered_room(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop);
  static void note_shut(Flow& flow, Bearer& bearer, bool shut);
  /// The bearer, where a law wants to know what goes to the radio.
  [[nodiscard]] static Bearer* counted(Bearer& bearer) { return bearer.counts() ? &bearer : nullptr; }
  void note_backlog(Flow& flow, Bearer& bearer);
  void on_flow_due(FlowId id, Instant now);
  // shard_stalls.cpp
  void end_what_stalls(Flow& flow, Instant now);
  void forget_overdue(Flow& flow, Instant now);
  [[nodiscard]] bool has_stalled(const Flow& flow, Side out, Instant now) const;
  void look_after_holes(Flow& flow, FlowId id);
  // shard_flows.cpp
  void reschedule(Flow& flow, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void close(FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void count_end(const Flow& flow);

  // shard_memory.cpp
  void look_at_memory(Instant now);
  [[nodiscard]] Bytes relay_limit(Flow& flow, const Bearer& bearer, Side in, Instant now);
  [[nodiscard]] Bytes need_of(Flow& flow, Side in, Instant now);
  void note_memory(Flow& flow, Bearer& bearer, Streams stirred);
  void forget_memory(Flow& flow, Bearer& bearer);
  [[nodiscard, gnu::cold, gnu::noinline]] bool keeps_payload(const Flow& flow, Side in,
                                                             const tcp::Segment& segment) const;
  void begin_reclaim();
  [[gnu::cold, gnu::noinline]] void reclaim_on(Instant now);
  void reclaim_from(Flow& flow, FlowId id, Instant now);

  // shard_windows.cpp
  [[gnu::noinline]] void follow_law(Flow& flow, Bearer& bearer, Instant now);
  [[nodiscard, gnu::noinline]] Bytes room_in_window(Flow& flow, Bearer& bearer, Instant now);
  [[nodiscard]] Bytes flight_on_wire(const Flow& flow) const;
  [[nodiscard]] Bytes segment_on_wire(const Flow& flow) const;
  [[nodiscard]] GovernedFlow* law_of(Flow& flow, Bearer& bearer);
  void note_sent(Flow& flow, const Bearer& bearer, Bytes sent);
  void serve_windowed(Bearer& bearer, Instant now);
  void serve_shut(Bearer& bearer, Instant now);
  void begin_steering(Flow& flow, Bearer& bearer, Instant now);
  void forget_law(Flow& flow, Bearer& bearer);
  // shard_release.cpp
  [[gnu::cold, gnu::noinline]] void serve_leaving(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void pass_over(Side in, packet::Packet&& packet, packet::ParseResult result,
                                              const packet::Parsed& parsed, FlowId id, Instant now);
  /// A part of a segment, or one behind IP options, that cannot be split: where its numbers are those of a connection
  /// that is split, that one is handed back.
  [[gnu::cold, gnu::noinline]] void on_surprise(Side in, const packet::Packet& packet, packet::ParseResult result,
                                                const packet::Parsed& parsed, Instant now);
  void ask_to_go(Flow& flow, FlowId id, LetGo reason);
  void lead_out(Flow& flow, Instant now);
  void let_go(const Flow& flow, Instant now);
  /// Of a connection that was let go; false when it is of none.
  [[gnu::cold, gnu::noinline]] bool follow_released(Side in, packet::Packet& packet, packet::ParseResult result,
                                                    const packet::Parsed& parsed, const flow::FlowKey& key,
                                                    Instant now);
  bool take_up(const FollowedConnection& connection, const flow::FlowKey& key, PolicyIndex policy, Side in,
               const tcp::Segment& segment, Instant now);
  bool take_up_released(std::uint32_t released, Side in, const packet::Parsed& parsed, const flow::FlowKey& key,
                        Instant now);
  [[gnu::cold, gnu::noinline]] void let_pass_until_split(Side in, packet::Packet&& packet, packet::ParseResult result,
                                                         const packet::Parsed& parsed, const flow::FlowKey& key,
                                                         RegulatedId id, Instant now);
  /// Of a connection that an earlier run had split; false when it is of none.
  [[gnu::cold, gnu::noinline]] bool end_orphan(Side in, const packet::Packet& packet, const packet::Parsed& parsed,
                                               const flow::FlowKey& key, Instant now);
  void sweep(LetGo reason);
  void sweep_on(Instant now);
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_now(Flow& flow, FlowId id, Instant now);

  // shard_icmp.cpp
  [[gnu::cold, gnu::noinline]] void hear_router(Side in, const packet::Packet& packet, const packet::Parsed& parsed,
                                                Instant now);

  // shard_bearers.cpp
  void on_bearer_due(BearerId id, Instant now);
  void steer(Bearer& bearer, Instant now);
  void steer(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  bool take_report(Bearer& bearer, const ReportArrival& report, Instant now);
  [[nodiscard]] static double share_of(const Bearer& bearer);
  void count_group(const Bearer& bearer, const ReportArrival& report);

  // shard_policies.cpp
  void rebind(Flow& flow, FlowId id, Instant now);
  void serve_bearer(BearerId id, Instant now);
  bool serve_round(Bearer& bearer, bool short_flows_only, Instant now);
  void reschedule_bearer(BearerId id);

  const ShardConfig config_;
  const Policies first_policies_;  ///< those of the configuration
  const Policies* policies_;       ///< those in force
  bool radio_counted_ = false;     ///< some policy was steered by reports: what passes to the radio is looked up
  packet::PacketPool& pool_;
  Counters counters_;
  TransmitQueue queue_;
  mutable Registry registry_;
  OutputParts parts_;
  flow::Slab<control::ReceiveWindowLoop> window_loops_;
  flow::Slab<GovernedFlow> governed_;
  flow::LazyArray<std::array<tcp::PacedEndpoint, 2>> paced_;  ///< by FlowId; no memory where nothing is paced
  mutable Regulator regulator_;
  Released released_;
  FlowJournal journal_;
  const flow::HashKey secret_;
  std::optional<Orphans> orphans_;  ///< while there are any
  Newcomers arrivals_;              ///< of connections that nothing else is known of
  Newcomers newcomers_;             ///< that name a connection which is known, or one of those with another number
  HalfOpen half_open_;
  std::uint32_t beginnings_left_ = most_beginnings;  ///< of the burst in hand
  std::vector<FlowId> marked_;                       ///< flows to serve before the burst ends; reserved at construction
  bool closed_marked_ = false;                       ///< some of them were closed since
  MemoryBudget budget_;
  flow::Slab<Demands> demands_;
  Bytes relay_limit_;  ///< what one direction of a flow may hold of which nothing is known, by the buffers left
  bool refuse_flows_ = false;
  bool draining_ = false;
  /// A walk over all flows, some per advance(), that asks them to go (or to stay), or ends them.
  struct Sweep {
    std::uint32_t next = 0;
    LetGo reason = LetGo::no;
    bool active = false;
    bool ends = false;   ///< none is asked
    bool again = false;  ///< some could not be told for want of a buffer: once more
  };
  Sweep sweep_;
  /// A walk over all flows, some per advance(), for memory.
  struct Reclaim {
    std::uint32_t next = 0;
    Bytes largest{};    ///< held by a connection without progress, of those looked at in this walk
    Bytes take_from{};  ///< a connection without progress that holds so much is ended
    bool active = false;
  };
  Reclaim reclaim_;
  GroupStatistics groups_{};
  /// What is known of the packets of the burst in hand.
  struct Scratch {
    std::array<packet::Parsed, burst_size> parsed;
    std::array<packet::ParseResult, burst_size> results;
    std::array<flow::FlowKey, burst_size> keys;
    std::array<Registry::ConnectionId, burst_size> ids;
  };
  Scratch scratch_{};
  bool ids_stale_ = false;         ///< a flow was opened or closed since the burst's keys were looked up
  Histogram exposure_;             ///< bytes acknowledged and not delivered, of every direction of every sample
  std::uint32_t next_sample_ = 0;  ///< flow to begin the next sample with
  Instant shed_{};                 ///< when flows were last gone through for want of buffers
};

}  // namespace sluice::proxy

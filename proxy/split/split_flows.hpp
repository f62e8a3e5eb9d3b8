#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/flows/flow_journal.hpp"
#include "proxy/flows/parsed_burst.hpp"
#include "proxy/handback/handback.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/shard/context.hpp"
#include "proxy/split/exposure.hpp"
#include "proxy/split/leg_output.hpp"
#include "proxy/split/relay.hpp"
#include "proxy/split/relay_memory.hpp"
#include "proxy/split/stalls.hpp"
#include "proxy/split/waiting_out.hpp"
#include "proxy/steering/ack_steering.hpp"
#include "proxy/steering/flow_windows.hpp"
#include "proxy/steering/receive_windows.hpp"

namespace sluice::proxy {

/// The split connections at work: what came in is relayed, windows are told, segments are sent, timers run, and what
/// is over is closed. Whatever changes a flow marks it; marked flows are served before the burst ends, each once.
/// Thread: the shard's.
class SplitFlows {
 public:
  /// What it is given outlives it.
  SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, FlowJournal journal, const flow::HashKey& secret);

  [[nodiscard]] RelayMemory& memory() { return memory_; }
  [[nodiscard]] const RelayMemory& memory() const { return memory_; }
  [[nodiscard]] FlowWindows& windows() { return windows_; }
  /// The flow has another bearer from now on, or none.
  void leave(Flow& flow, FlowId id, Bearer& bearer) {
    windows_.forget(flow, bearer);
    if (bearer.listens()) acks_.forget(id, bearer);
  }
  [[nodiscard]] Handback& handback() { return handback_; }
  [[nodiscard]] const Handback& handback() const { return handback_; }

  /// By Side: of the policies in force, which outlive the connection. A paced one has its own, with a place for what it
  /// keeps.
  [[nodiscard]] std::array<const tcp::EndpointConfig*, 2> endpoint_configs(FlowId id);
  /// Of a flow that is about to be split: what window the host behind `from` may be given.
  [[nodiscard]] Bytes first_window(const Flow& flow, Side from) const;
  /// A connection is about to be: both hosts have agreed on it.
  void begin_young(Flow& flow, Instant now);
  /// The flow's endpoints live from now on.
  void begin(Flow& flow, FlowId id, Instant now);
  /// The packet at `at` is for receive() without a doubt, as nearly all are: of a split connection, and no SYN.
  [[nodiscard]] bool takes(const ParsedBurst& known, std::size_t at) const { return flow_of(known, at) != nullptr; }
  /// Takes the packet at `at` of a burst, which takes() is true of, and those behind it up to the first of which it is
  /// not. Returns the place of that one, or the burst's size. Closes and opens no connection.
  std::size_t receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at, Instant now);
  /// A segment of the flow came in by itself. What it takes of the packet it moves out.
  void receive(Arrival& arrival, FlowId id);

  /// To be served before the burst ends, as far as this has to do with it.
  void mark(Flow& flow, FlowId id, StreamEvents events) {
    if (flow.events == StreamEvents::none) marked_.push_back(id);
    flow.events = flow.events | events;
  }
  void serve_marked(Instant now) {
    if (!marked_.empty()) serve_all_marked(now);
  }
  /// Lets the flow send what it can towards the radio, `most` IP bytes at most.
  void send_to_radio(Flow& flow, Bearer& bearer, Bytes most, Instant now) {
    emit(flow, bearer, Side::radio, most, Part::all, now);
  }
  /// There is room in the bearer's window, by acknowledgements, that no flow was there to use when it came about.
  void use_room(Bearer& bearer, Instant now);
  /// The flow is to go, or to stay (Handback::ask).
  void ask_to_leave(Flow& flow, FlowId id, ReleaseReason reason) {
    if (handback_.ask(flow, reason)) mark(flow, id, StreamEvents::all);
  }
  /// The timer wheel has come to it.
  void on_due(FlowId id, Instant now);
  /// A new connection found no place: one that both hosts have closed makes room for it, if there is any.
  [[gnu::cold, gnu::noinline]] void make_room(Instant now);
  /// Ends the flow in this moment. What one host was told that the other one has: where nothing is missing there, plain
  /// forwarding takes over. Otherwise both are told that the connection is over. False when there was no buffer to say
  /// so.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_now(Flow& flow, FlowId id, Instant now);
  [[gnu::noinline]] void close(FlowId id, Instant now);

 private:
  /// Of the packet at `at`, where it is takes(); null otherwise.
  [[nodiscard]] Flow* flow_of(const ParsedBurst& known, std::size_t at) const {
    const Registry::ConnectionId id = known.id(at);
    if (!known.is_tcp(at) || !shard_.registry.is_flow(id)) return nullptr;
    Flow& flow = shard_.registry.flow(id);
    return flow.phase == FlowPhase::split && !known.parsed[at].segment.flags.syn() ? &flow : nullptr;
  }
  // What each segment runs through is compiled once for each side that it may come in on: it knows then where both legs
  // lie, which it would work out anew at every use.
  template <Side in>
  [[gnu::flatten, gnu::noinline]] std::size_t receive_burst(std::span<packet::Packet> burst, const ParsedBurst& known,
                                                            std::size_t at, Instant now);
  template <Side in>
  [[gnu::flatten, gnu::noinline]] std::size_t receive_train(std::span<packet::Packet> packets,
                                                            std::span<const packet::Parsed> parsed, Flow& flow,
                                                            FlowId id, Instant now);
  template <Side in>
  std::size_t receive_some(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed, Flow& flow,
                           FlowId id, Instant now);
  template <Side in>
  std::size_t deliver_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed, Flow& flow,
                            Instant now);
  template <Side in>
  std::size_t pass(Flow& flow, FlowId id, std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed,
                   Instant now);
  std::size_t take_together(const Leg& to, std::span<const packet::Packet> packets,
                            std::span<const packet::Parsed> parsed, Bytes room, Bytes most);
  template <Side in>
  void after_passing(Flow& flow, FlowId id, const Bearer& bearer, bool first_waited, Instant now);
  [[nodiscard, gnu::flatten, gnu::noinline]] bool rests_after_passing(Flow& flow, FlowId id, Bearer& bearer,
                                                                      Instant now);
  template <Side in>
  bool hear(packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id, Instant now);
  template <Side in>
  void after_hearing(Flow& flow, FlowId id, Bearer& bearer, std::uint32_t acked, Instant now);
  template <Side in>
  bool has_opened_window(Flow& flow, Bearer& bearer, std::uint32_t acked, Instant now);
  [[gnu::flatten, gnu::noinline]] bool law_has_opened_window(Flow& flow, Bearer& bearer, Instant now);
  template <Side in>
  void send_due(Flow& flow, FlowId id, Instant now);
  template <Side in>
  [[nodiscard]] bool window_is_due(const Flow& flow, Instant now) const;
  [[gnu::flatten, gnu::noinline]] void serve_all_marked(Instant now);
  template <Side in>
  bool deliver_segment(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id, Instant now);
  template <Side in>
  [[gnu::cold, gnu::noinline]] void deliver_rerouted(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow,
                                                     FlowId id, Instant now);
  void serve(Flow& flow, FlowId id, Instant now);
  [[gnu::flatten, gnu::noinline]] void serve_troubled(Flow& flow, FlowId id, Instant now);
  void serve_repairing(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  bool wait_out(Flow& flow, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] void serve_leaving(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  bool emit(Flow& flow, Bearer& bearer, Instant now);
  /// Of a window that flows share by acknowledgements: the flow's own part, or what the others leave, too.
  enum class Part : std::uint8_t { own, all };
  void emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Part part, Instant now);
  void note_sent_to_radio(Flow& flow, FlowId id, Bearer& bearer, Bytes sent, Instant now);
  void count_sent_to_radio(Flow& flow, Bearer& bearer, Bytes sent, Instant now);
  void relay_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  [[nodiscard]] static bool is_said(const Flow& flow, const Bearer& bearer, Instant now);
  [[gnu::flatten, gnu::noinline]] void emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  [[gnu::noinline]] void pass_news_of_end(Flow& flow, Bearer& bearer, Instant now);
  void settle(Flow& flow, Bearer& bearer, StreamEvents events);
  void follow_young(Flow& flow, Bearer& bearer, bool over, Instant now);
  [[gnu::cold, gnu::noinline]] void end_young(Flow& flow, Bearer& bearer, Instant now);
  /// The bearer, where a law listens to the UE's acknowledgements.
  [[nodiscard]] Bearer* listener(const Flow& flow) {
    Bearer& bearer = shard_.registry.bearer(flow.bearer);
    return bearer.listens() ? &bearer : nullptr;
  }
  /// Its windows go by memory alone, nobody listens to its acknowledgements or waits for it, and nothing of it waits.
  [[nodiscard]] static bool is_plain(const Flow& flow, const Bearer& bearer) {
    return !bearer.steered() && !bearer.bounds() && !bearer.listens() && !Exposure::waits(flow) && !flow.share.young &&
           flow.share.backlog == 0;
  }
  /// A flow under a law by acknowledgements has been served, or is over, and others wait: what it left of the window is
  /// theirs.
  [[gnu::noinline]] void hand_on_room(Bearer& bearer, Instant now);
  void hand_on_room(Bearer& bearer, std::uint32_t count, bool young, Instant now);
  /// When one of its legs wants to be looked at.
  [[nodiscard]] static Instant next_deadline(const Flow& flow) {
    return lesser(flow.legs[0].endpoint.next_deadline(), flow.legs[1].endpoint.next_deadline());
  }
  /// The timer wheel comes to it by then, for idleness too.
  [[nodiscard]] static bool is_looked_at_in_time(const Flow& flow, Instant due) {
    return flow.deadline <= due && flow.deadline != never;
  }
  void reschedule(Flow& flow, FlowId id, Instant now);
  void schedule(Flow& flow, FlowId id, Instant due, Instant now);
  [[nodiscard]] Instant when_to_look(const Flow& flow, Instant due, Instant now) const;
  [[nodiscard]] bool may_be_put_off(const Flow& flow);
  [[nodiscard]] static bool time_alone_matters(const Flow& flow, const Bearer& bearer);
  [[gnu::noinline]] void count_end(const Flow& flow, FlowId id);
  void begin_to_wait_out(Flow& flow, FlowId id, Instant now);
  void end_finished(Flow& flow, FlowId id, Instant now);
  void displace(FlowId id, Instant now);
  /// Before anything leaves that acknowledges: the journal must not say less than the hosts are told.
  void keep_journal(Flow& flow, FlowId id) {
    if (!journal_.keeps()) return;
    if (const bool exposed = relay::exposing(flow); exposed != flow.journaled) write_journal(flow, id, exposed);
  }
  [[gnu::noinline]] void write_journal(Flow& flow, FlowId id, bool exposed) {
    flow.journaled = exposed;
    journal_.note(id, flow, exposed);
  }

  const ShardContext shard_;
  EndToEndFlows& end_to_end_;
  Exposure exposure_;
  RelayMemory memory_;
  ReceiveWindows receive_windows_;
  FlowWindows windows_;
  AckSteering acks_;
  Stalls stalls_;
  Handback handback_;
  FlowJournal journal_;
  WaitingOut waiting_out_;
  flow::LazyArray<std::array<tcp::PacedEndpoint, 2>> paced_;  ///< by FlowId; no memory where nothing is paced
  flow::LazyArray<std::uint32_t> begun_;                      ///< by FlowId: when it was split, tick::fine
  std::vector<FlowId> marked_;  ///< flows to serve before the burst ends; reserved at construction
  bool closed_marked_ = false;  ///< some of them were closed since
};

}  // namespace sluice::proxy

#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/handback/handback.hpp"
#include "proxy/opening/handshake.hpp"
#include "proxy/relay/stalls.hpp"
#include "proxy/relay/waiting_out.hpp"
#include "proxy/split/sending.hpp"
#include "proxy/split/split_arrivals.hpp"
#include "proxy/split/split_work.hpp"

namespace sluice::proxy {

/// The split connections at work. Whatever changes a flow marks it, and marked flows are served before the burst ends,
/// each once: payload goes on, windows are told, and segments are sent. Timers run, and what is over is closed.
/// Thread: the shard's.
class SplitFlows {
 public:
  /// What it is given outlives it.
  SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, FlowJournal journal, const flow::HashKey& secret);

  [[nodiscard]] RelayMemory& memory() { return work_.memory; }
  [[nodiscard]] const RelayMemory& memory() const { return work_.memory; }
  [[nodiscard]] FlowWindows& windows() { return work_.windows; }
  /// The flow has another bearer from now on, or none.
  void leave(Flow& flow, FlowId id, Bearer& bearer) {
    work_.windows.forget(flow, bearer);
    if (bearer.lead().listens()) work_.acks.forget(id, bearer);
  }
  [[nodiscard]] Handback& handback() { return handback_; }
  [[nodiscard]] const Handback& handback() const { return handback_; }

  /// By Side: of the policies in force, which outlive the connection. A paced one has its own, with a place for what it
  /// keeps.
  [[nodiscard]] handshake::LegConfigs endpoint_configs(FlowId id);
  /// Of a flow that is about to be split: what window the host behind `from` may be given.
  [[nodiscard]] Bytes first_window(const Flow& flow, Side from) const;
  /// The port of that side carries frames of another length from now on: all segments to it follow.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);
  /// The flow's endpoints live from now on.
  void begin(Flow& flow, FlowId id, Instant now);
  /// Whether the packet at `at` is for receive() without a doubt (arrivals::flow_of).
  [[nodiscard]] bool takes(const ParsedBurst& known, std::size_t at) const {
    return arrivals::flow_of(work_, known, at) != nullptr;
  }
  /// Packets that came in: arrivals::receive().
  std::size_t receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at, Instant now) {
    return arrivals::receive(work_, in, burst, known, at, now);
  }
  void receive(Arrival& arrival, FlowId id) { arrivals::receive(work_, arrival, id); }

  /// To be served before the burst ends, as far as this has to do with it.
  void mark(Flow& flow, FlowId id, StreamEvents events) { work_.marked.mark(flow, id, events); }
  [[nodiscard]] bool has_marked() const { return work_.marked.any(); }
  void serve_marked(Instant now) {
    if (work_.marked.any()) serve_all_marked(now);
  }
  /// Lets the flow send what it can towards the radio, `most` IP bytes at most.
  void send_to_radio(Flow& flow, Bearer& bearer, Bytes most, Instant now) {
    sending::emit(work_, flow, bearer, Side::radio, most, sending::Part::all, now);
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
  [[gnu::flatten, gnu::noinline]] void serve_all_marked(Instant now);
  void serve(Flow& flow, FlowId id, Instant now);
  template <Side in>
  void send_due(Flow& flow, FlowId id, Instant now);
  template <Side in>
  [[nodiscard]] bool window_is_due(const Flow& flow, Instant now) const;
  [[gnu::flatten, gnu::noinline]] void serve_troubled(Flow& flow, FlowId id, Instant now);
  bool serve_repairing(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  [[gnu::cold, gnu::noinline]] bool serve_leaving(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  void relay_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  [[nodiscard]] static bool is_said(const Flow& flow, const Bearer& bearer, Instant now);
  void emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  [[gnu::noinline]] void pass_news_of_end(Flow& flow, Bearer& bearer, Instant now);
  void settle(Flow& flow, Bearer& bearer, StreamEvents events);
  bool wait_out(Flow& flow, FlowId id, Instant now);
  void begin_to_wait_out(Flow& flow, FlowId id, Instant now);
  void end_finished(Flow& flow, FlowId id, Instant now);
  void displace(FlowId id, Instant now);
  [[gnu::noinline]] void count_end(const Flow& flow, FlowId id);

  SplitWork work_;
  EndToEndFlows& end_to_end_;
  Stalls stalls_;
  Handback handback_;
  WaitingOut waiting_out_;
  flow::LazyArray<std::array<tcp::PacedEndpoint, 2>> paced_;  ///< by FlowId; no memory where nothing is paced
  flow::LazyArray<std::uint32_t> begun_;                      ///< by FlowId: when it was split, tick::fine
};

}  // namespace sluice::proxy

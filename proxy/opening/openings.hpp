#pragma once

#include <cstdint>
#include <optional>

#include "proxy/flows/half_open.hpp"
#include "proxy/handback/handback.hpp"
#include "proxy/opening/newcomers.hpp"
#include "proxy/opening/unsplit_connections.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/shard/forwarder.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// Connections that begin: a SYN is noted, its answer opens the connection, the last word of the handshake splits it.
/// What passes meanwhile is the hosts' own, so refusals, time-outs and options are end to end true. Thread: the
/// shard's.
class Openings {
 public:
  /// What it is given outlives it.
  Openings(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
           const flow::HashKey& secret);

  /// While it drains no connection is split that is not yet.
  void drain(bool on) { draining_ = on; }
  [[nodiscard]] bool draining() const { return draining_; }
  /// Connections may be split: the proxy does not drain, and has memory for them.
  [[nodiscard]] bool welcomes() const { return !draining_ && !flows_.memory().refuses_flows(); }

  /// A segment of a connection of which at most SYNs were seen.
  void meet(Arrival& arrival);
  /// A SYN whose numbers are not those of the connection that its addresses name: it is noted, and is still to pass. A
  /// SYN-ACK that answers such a one: the old connection is over, a new one begins. True when it has been passed on.
  [[nodiscard, gnu::cold, gnu::noinline]] bool meet_newcomer(Arrival& arrival);
  /// Of a connection whose handshake is tracked.
  [[gnu::noinline]] void track(Arrival& arrival, FlowId id);
  /// The connection with this key goes unsplit for this reason, under which its later segments are counted.
  void note_unsplit(const flow::FlowKey& key, Counter reason, Instant now) {
    unsplit_.note(key, shard_.registry.connections().tag_of(key), reason, now);
  }

 private:
  [[nodiscard]] bool is_ue(const IpAddress& address) const;
  [[nodiscard]] std::optional<Counter> reason_not_to_note(const Arrival& arrival) const;
  [[nodiscard]] std::optional<Counter> reason_not_to_begin(const Treatment& treatment) const;
  void forward_unsplit(Arrival& arrival, Counter reason);
  void forward_unknown(Arrival& arrival);
  void note(const FirstSyn& first);
  void expect(const Arrival& arrival);
  [[nodiscard]] bool meet_answer(Arrival& arrival);
  void begin_answered(Arrival& arrival, const FirstSyn& first);
  [[nodiscard]] FlowId begin(const FirstSyn& first, PolicyIndex policy, Instant now);
  [[nodiscard]] FlowId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  void displace(const AgeRing::Entry& oldest, Instant now);
  void forget(const flow::FlowKey& key, Instant now);
  void follow(Arrival& arrival, FlowId id);
  void split(Arrival& arrival, FlowId id);
  void leave_end_to_end(Arrival& arrival, FlowId id);
  [[nodiscard]] bool clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const;

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  Newcomers first_syns_;  ///< of connections that nothing else is known of
  Newcomers newcomers_;   ///< that name a connection which is known, or one of those with another number
  UnsplitConnections unsplit_;
  HalfOpen half_open_;
  bool draining_ = false;
};

}  // namespace sluice::proxy

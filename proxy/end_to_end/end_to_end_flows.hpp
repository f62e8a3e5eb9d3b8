#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/flow/slab.hpp"
#include "dataplane/flow/timer_wheel.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/end_to_end/clocked_acks.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/end_to_end/held_acks.hpp"
#include "proxy/end_to_end/parts.hpp"
#include "proxy/end_to_end/segment_numbers.hpp"
#include "proxy/end_to_end/split_candidates.hpp"
#include "proxy/flows/half_open.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/opening/newcomers.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/transmit_queue.hpp"

namespace sluice::proxy {

/// The interception `regulate`: connections pass end to end, the windows in their ACKs are rewritten and ACKs wait as
/// their law wants it. Nothing is acknowledged on anyone's behalf, nothing is dropped, no payload is touched.
///
///  - A right edge never moves left, and a window is never larger than its host offers.
///  - ACKs leave in the order they came, before anything else that the same host sent after them, and none waits
///    longer than LawParameters::hold.
///  - What is damaged, or cannot belong to the connection, passes untouched and teaches nothing.
///
/// Thread: its shard's.
class EndToEndFlows {
 public:
  static constexpr EndToEndId none = flow::no_flow;

  using Parts = EndToEndParts;
  EndToEndFlows(const ShardConfig& config, const Parts& parts, Instant origin);

  /// Connections, without successors: those are still counted as what they are handed back from.
  [[nodiscard]] std::uint32_t size() const { return flows_.size() - successors_; }
  [[nodiscard]] bool any() const { return flows_.size() != 0; }
  [[nodiscard]] bool contains(EndToEndId id) const { return flows_.contains(id); }
  void prefetch(EndToEndId id) const { flows_.prefetch(id); }
  /// Tracks a connection from its first SYN on, which is still to be taken where it has not passed. The oldest
  /// handshakes make room for it; `none`: a limit is reached by connections.
  EndToEndId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Tracks a connection from its middle on, as successor of the one that it is found as until inherit(). `none`:
  /// there is no room for it. `window`: how far the server may be ahead of the UE at first.
  EndToEndId adopt(const KnownConnection& known, Bytes window, Instant now);
  /// The server was told of a window up to there by what the successor is handed back from.
  void note_advertised(EndToEndId id, tcp::SeqNum edge);
  [[nodiscard]] Bytes opening_window(EndToEndId id) const { return flows_[id].opening_window; }
  /// Right edge of the widest window that the host behind `side` was let grant.
  [[nodiscard]] tcp::SeqNum edge_towards(EndToEndId id, Side side) const {
    const DataWay& way = flows_[id].towards(side);
    return tcp::SeqNum(way.position.sequence_at(way.window.edge()));
  }
  /// What the successor was handed back from is gone: from now on it is found itself.
  void inherit(EndToEndId id, Instant now);
  /// Other treatments are in force: every connection goes to the bearer that they want, whatever waits goes on, and
  /// its law begins anew from what is under way.
  void rebind(const Policies& policies, Instant now);
  /// A segment of the connection came in on `in`; it goes on, now or later. `believed`: its checksum is right.
  /// `in_need`: packet buffers are short, so nothing is to wait.
  void receive(EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed, bool believed,
               bool in_need, Instant now);
  /// Its policy splits: it passes end to end only until that can be done.
  [[nodiscard]] bool to_be_split(EndToEndId id) const { return flows_[id].to_be_split; }
  /// It can be from this segment on, which was neither tracked nor received and has a good checksum.
  [[nodiscard]] bool may_be_split(EndToEndId id, Side in, const tcp::Segment& segment) const {
    return candidates_.may_be_split(flows_[id], in, segment);
  }
  /// Such a segment of a connection that is to be split and cannot be yet; it is to be taken, too.
  void track(EndToEndId id, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
    candidates_.track(flows_[id], in, packet, parsed);
  }
  /// It is forgotten here because it is split now. What waits goes on; the answer says where its hosts stand.
  TrackedConnection give_up(EndToEndId id, Instant now);
  /// The SYN, or SYN-ACK, is one of its own by the numbers: by others a new connection of the same addresses may begin.
  [[nodiscard]] bool is_own_syn(EndToEndId id, Side in, const tcp::Segment& syn) const {
    return flows_[id].is_own_syn(in, syn);
  }
  /// The beginning of a segment passes that cannot be split. Where its numbers are the connection's, that stays end to
  /// end: nobody knows any more what its hosts have.
  void note_unsplittable(EndToEndId id, Side in, const tcp::Segment& segment);
  /// Returns whether the SYN of the host behind `side` had an unfinished checksum.
  [[nodiscard]] bool leaves_unfinished(EndToEndId id, Side side) const {
    return (flows_[id].unfinished & bit(side)) != 0;
  }
  /// A SYN, or SYN-ACK, came in on `in` with such a checksum.
  void note_checksum(EndToEndId id, Side in, const tcp::Segment& syn, bool is_unfinished) {
    flows_[id].note_checksum(in, syn, is_unfinished);
  }
  /// There is something about its SYNs that cannot be split.
  void keep_end_to_end(EndToEndId id) { flows_[id].splittable = false; }
  /// Its connection was split until the policies changed.
  void note_split_before(EndToEndId id) { flows_[id].was_split = true; }
  [[nodiscard]] PolicyIndex policy_of(EndToEndId id) const { return parts_.registry.bearer(flows_[id].bearer).policy; }
  void close(EndToEndId id, Instant now);

  /// The bearer has a new report, or has none any more.
  void on_report(BearerId bearer, Instant now) { held_.on_report(parts_.registry.bearer(bearer), now); }
  /// advance() has nothing to do.
  [[nodiscard]] bool is_at_rest(Instant now) const { return wheel_.is_quiet(now) && !held_.in_need(); }
  void advance(Instant now) {
    if (held_.in_need()) [[unlikely]]
      held_.free_some(now);
    wheel_.advance(now, most_timers_at_once, [&](EndToEndId id) { on_due(id, now); });
  }
  [[nodiscard]] Instant next_deadline() const { return held_.in_need() ? Instant{} : wheel_.next(); }

  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  EndToEndId enter(const flow::FlowKey& key, PolicyIndex policy, Instant now);
  void displace(const AgeRing::Entry& oldest, Instant now);
  [[gnu::cold, gnu::noinline]] void receive_syn_or_reset(EndToEndFlow& flow, EndToEndId id, Side in,
                                                         packet::Packet&& packet, const packet::Parsed& parsed,
                                                         Instant now);
  [[gnu::cold, gnu::noinline]] void track_handshake(EndToEndFlow& flow, Side in, const SegmentNumbers& numbers,
                                                    Instant now);
  void establish(EndToEndFlow& flow);
  void enter_bearer(EndToEndFlow& flow, BearerId bearer);
  [[nodiscard]] const char* name_of_phase(const EndToEndFlow& flow) const;
  void receive_data(EndToEndFlow& flow, EndToEndId id, Side in, const packet::Parsed& parsed,
                    const SegmentNumbers& numbers, Instant now);
  [[gnu::noinline]] void watch_data(EndToEndFlow& flow, EndToEndId id, const packet::Parsed& parsed, Bytes end,
                                    Instant now);
  void receive_ack(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                   Bytes ack, bool in_need, Instant now);
  void pass(EndToEndFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now);
  void on_due(EndToEndId id, Instant now);
  void schedule(const EndToEndFlow& flow, EndToEndId id);
  [[nodiscard]] Instant forgotten_at(const EndToEndFlow& flow) const;

  const ShardConfig& config_;
  Parts parts_;
  flow::Slab<EndToEndFlow> flows_;
  ClockedAcks clocked_;
  AckWindows windows_;
  HeldAcks held_;
  SplitCandidates candidates_;
  std::uint32_t successors_ = 0;
  HalfOpen half_open_;
  flow::TimerWheel wheel_;
};

}  // namespace sluice::proxy

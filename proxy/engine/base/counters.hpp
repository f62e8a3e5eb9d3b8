#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Defines, for one release reason, the counter of the frames that are forwarded after their split connection was
/// released (handed back to its hosts). SLUICE_PROXY_RELEASED defines the counter of the released connections.
#define SLUICE_PROXY_FORWARD_RELEASED(name, text) \
  X(forward_##name, "forwarded: its connection was split earlier: " text)
#define SLUICE_PROXY_RELEASED(name, text) X(name, "split connections handed back to plain forwarding: " text)

/// List of the counters of a shard: X(name, meaning). Every received frame is counted on arrival and once more by its
/// outcome. The sum of received_* thus equals optimised + the sum of forward_* + the sum of drop_*. For each result of
/// packet::parse() except `tcp` there is one more counter, forward_… or drop_….
#define SLUICE_PROXY_COUNTERS(X)                                                                                     \
  X(received_radio, "frames received from the radio port")                                                           \
  X(received_core, "frames received from the core port")                                                             \
  X(optimised, "segments delivered to a split connection")                                                           \
  X(forward_bypass_mode, "forwarded: mode is bypass")                                                                \
  X(forward_handshake, "forwarded: SYN, SYN-ACK or the ACK that completes a tracked handshake")                      \
  X(forward_reset_handshake, "forwarded: the reset that ends a tracked handshake (refused)")                         \
  X(forward_regulated, "forwarded: segment of an end-to-end connection under a controller")                          \
  X(forward_tracked, "forwarded: segment of an end-to-end connection without a controller, tracked from its SYN")    \
  X(forward_regulated_unread, "forwarded: segment under a controller with a wrong checksum; not evaluated")          \
  X(forward_mid_flow, "forwarded: segment of a connection whose SYN was not seen or whose state was discarded")      \
  SLUICE_PROXY_RELEASE_REASONS(SLUICE_PROXY_FORWARD_RELEASED)                                                        \
  X(forward_released_earlier_run, "forwarded: an earlier run of the program had split its connection")               \
  X(forward_not_ue, "forwarded: the address on the radio side is not in ue_prefixes")                                \
  X(forward_flow_limit, "forwarded: SYN beyond max_flows or max_bearers")                                            \
  X(forward_memory, "forwarded: SYN while packet buffers are short")                                                 \
  X(forward_draining, "forwarded: SYN while the proxy drains")                                                       \
  X(forward_handback, "forwarded: segment of a connection in handback, beyond the handback point")                   \
  X(forward_multipath, "forwarded: of a connection whose SYN asks for Multipath TCP (RFC 8684)")                     \
  X(forward_signed, "forwarded: segment with a signature (TCP MD5 or TCP-AO), which only its hosts can verify")      \
  X(forward_small_mss, "forwarded: of a connection whose SYN or SYN-ACK announces an MSS below 64 bytes")            \
  X(forward_syn_data, "forwarded: a SYN that carries data")                                                          \
  X(forward_handshake_damaged, "forwarded: handshake segment with a wrong or refused checksum; not evaluated")       \
  X(forward_handshake_unseen, "forwarded: handshake segment after others that were not seen; not split")             \
  X(forward_handshake_unclear, "forwarded: handshake that leaves open which TCP options the hosts use; not split")   \
  X(forward_accurate_ecn, "forwarded: it is unclear if the hosts agree on accurate ECN (RFC 9768); not split")       \
  X(forward_simultaneous_open, "forwarded: SYN of a simultaneous open; not split")                                   \
  X(drop_tcp_checksum, "dropped: segment of a split connection with a wrong TCP checksum")                           \
  X(drop_orphan, "dropped: segment of a connection that lost bytes in an earlier run; its sender is reset")          \
  X(drop_partial_checksum, "dropped: unfinished TCP checksum from a port or host that must finish its checksums")    \
  X(drop_queue_delay, "dropped: waited too long in the queue of its UE (CoDel)")                                     \
  X(drop_queue_full, "dropped: its flow had as much waiting in the queue of its UE as it may")                       \
  X(drop_uplink_delay, "dropped: of a large upload, while packets of its UE wait long for the uplink (smvs.uplink)") \
  X(uplink_marked, "frames of large uploads that got a CE mark (RFC 3168) instead")                                  \
  X(uplink_observed, "frames of large uploads that mode observe left, although smvs.uplink would drop or mark them") \
  X(cross_traffic_queued, "frames to UEs that belong to no split connection and waited for the UE's window")         \
  X(cross_traffic_marked, "of these, frames that got a CE mark (RFC 3168) because they waited long")                 \
  X(answer_clocks_started, "downloads of datagrams whose answers were counted, because no TCP shows the link")       \
  X(answer_clocks_known, "of these, times that the number of datagrams per answer became known")                     \
  X(answer_clocks_given_up, "of these, downloads that are forwarded at once, because the answers show nothing")      \
  X(scone_lowered, "SCONE packets to UEs whose rate signal was lowered to the advised rate")                         \
  X(scone_lowered_to_link, "of these, packets lowered to scone_link_share of the long-term rate of the link")        \
  X(scone_observed, "SCONE packets to UEs that mode observe left, although their signal exceeds the advised rate")   \
  X(scone_kept, "SCONE packets to UEs whose rate signal does not exceed the advised rate")                           \
  X(scone_rate_unknown, "SCONE packets to UEs that were left: no rate is set, and that of the link is unknown")      \
  X(scone_beyond_limit,                                                                                              \
    "SCONE packets to UEs that were left: four of this flow, or of another one in its entry, were just changed")     \
  X(scone_unmatched, "datagrams to UEs that begin like SCONE, but not with a packet of the same connection")         \
  X(drop_too_long, "dropped: packet to forward is longer than the other port's MTU")                                 \
  X(mss_clamped, "SYNs and SYN-ACKs whose MSS was lowered to what both ports carry")                                 \
  X(rx_partial_checksum, "segments accepted with an unfinished (offloaded) checksum")                                \
  X(segments_cut_through, "optimised segments that were forwarded at once in their own frames (cut-through)")        \
  X(transmitted_radio, "frames sent to the radio port")                                                              \
  X(transmitted_core, "frames sent to the core port")                                                                \
  X(flows_opened, "handshakes tracked: a SYN and its SYN-ACK")                                                       \
  X(flows_split, "connections split")                                                                                \
  X(flows_refused, "tracked handshakes that ended in a reset")                                                       \
  X(flows_closed, "split connections that closed on both sides")                                                     \
  X(flows_reset, "split connections that a reset ended")                                                             \
  X(flows_reset_by_stop, "split connections reset on both sides because the program ended and held bytes")           \
  X(orphans_reset, "connections that lost bytes in an earlier run and were reset at both hosts")                     \
  X(flows_timed_out, "split connections aborted after too many retransmissions")                                     \
  X(flows_reset_memory, "split connections reset to free packet buffers: large and without progress")                \
  X(flows_stalled, "split connections reset: a host acknowledged none of the data held for it")                      \
  X(flows_orphaned, "split connections reset: as flows_stalled, but the data's sender was gone or had reset")        \
  X(out_of_order_dropped, "times that held out-of-order segments were dropped: time over, or no buffers")            \
  X(icmp_accepted, "ICMP errors about outstanding data of a split connection")                                       \
  X(icmp_rejected, "ICMP errors that quote no outstanding data, or state an impossible size")                        \
  X(paths_smaller_radio, "times segments to the radio became smaller because of an ICMP error")                      \
  X(paths_smaller_core, "times segments to the core became smaller because of an ICMP error")                        \
  X(flows_split_again, "connections that had been handed back and are split again")                                  \
  X(flows_split_by_switch, "end-to-end connections that were split after the policies changed")                      \
  SLUICE_PROXY_RELEASE_REASONS(SLUICE_PROXY_RELEASED)                                                                \
  X(released_untracked, "handed-back connections no longer tracked because newer ones needed the place")             \
  X(flows_regulated, "end-to-end connections under a controller")                                                    \
  X(windows_rewritten, "ACKs forwarded with a rewritten window")                                                     \
  X(acks_held, "ACKs that were delayed")                                                                             \
  X(acks_overdue, "delayed ACKs released because max_ack_delay was over")                                            \
  X(acks_freed, "delayed ACKs released because packet buffers were short")                                           \
  X(policies_applied, "times that changed policies were activated")                                                  \
  X(handshake_timeouts, "tracked handshakes that timed out")                                                         \
  X(time_waits_displaced, "closed connections discarded before tcp.time_wait because newer ones needed the place")   \
  X(handshakes_displaced, "SYNs or handshakes discarded because newer ones needed the place (a flood?)")             \
  X(bearers_opened, "bearers created")                                                                               \
  X(retransmitted_radio, "segments retransmitted towards the radio")                                                 \
  X(retransmitted_core, "segments retransmitted towards the core")                                                   \
  X(fast_recoveries_radio, "loss recoveries towards the radio without a timeout")                                    \
  X(fast_recoveries_core, "loss recoveries towards the core without a timeout")                                      \
  X(timeouts_radio, "retransmission timeouts towards the radio")                                                     \
  X(timeouts_core, "retransmission timeouts towards the core")                                                       \
  X(acks_misplaced_radio, "ACKs of UEs that end inside a segment, as if sent before it arrived")                     \
  X(acks_misplaced_core, "ACKs of servers that end inside a segment, as if sent before it arrived")                  \
  X(buffers_exhausted, "transmissions postponed because no packet buffer was left")                                  \
  X(segments_too_long, "transmissions postponed because the segment is longer than the port's MTU")                  \
  X(payload_refused, "segments neither kept nor acknowledged because packet buffers were short")                     \
  X(reports, "bearer records accepted from reports")                                                                 \
  X(reports_unknown_bearer, "bearer records for a UE that has no bearer here")                                       \
  X(reports_stale, "bearer records older than the newest one applied")                                               \
  X(reports_distrusted, "bearer records ignored because the UE's ACKs contradict them")                              \
  X(steps_too_long, "times that a full radio buffer began to drain within one step of SMVS")                         \
  X(steps_too_coarse, "times that a radio link began to vary faster than two steps of SMVS can sample")              \
  X(reports_elsewhere, "bearer records from a Node-B that does not serve the UE, or no longer does")                 \
  X(reporters_changed, "handovers: times that a UE's reports began to come from another Node-B")                     \
  X(fallbacks, "bearers that fell back to congestion control because reports were late")                             \
  X(recoveries, "bearers that returned to their controller because reports came again")

enum class Counter : std::uint8_t {
#define X(name, text) name,
  SLUICE_PROXY_COUNTERS(X)
#undef X
      own_count
};
inline constexpr std::size_t own_counter_count = static_cast<std::size_t>(Counter::own_count);
/// Number of all counters: those in SLUICE_PROXY_COUNTERS, and one for each result of packet::parse() except `tcp`.
inline constexpr std::size_t counter_count = own_counter_count + packet::parse_result_count - 1;

/// Returns the counter of the connections that are released (handed back to their hosts) for this reason.
[[nodiscard]] constexpr Counter counter_of(ReleaseReason reason) {
  return static_cast<Counter>(static_cast<std::size_t>(Counter::released_idle) + static_cast<std::size_t>(reason) -
                              static_cast<std::size_t>(ReleaseReason::released_idle));
}
static_assert(counter_of(ReleaseReason::released_unsplittable) == Counter::released_unsplittable);

/// Returns the counter of the frames that are forwarded because their connection was released (handed back to its
/// hosts) for this reason. For `none` (not released) and `never_split`, returns forward_mid_flow.
[[nodiscard]] constexpr Counter forwarded_since(ReleaseReason reason) {
  if (reason == ReleaseReason::none || reason == ReleaseReason::never_split) return Counter::forward_mid_flow;
  return static_cast<Counter>(static_cast<std::size_t>(Counter::forward_released_idle) +
                              static_cast<std::size_t>(reason) -
                              static_cast<std::size_t>(ReleaseReason::released_idle));
}
static_assert(forwarded_since(ReleaseReason::released_unsplittable) == Counter::forward_released_unsplittable);
static_assert(forwarded_since(ReleaseReason::released_earlier_run) == Counter::forward_released_earlier_run);

/// Returns the counter of the frames for which packet::parse() returns `result`, which must not be `tcp`.
[[nodiscard]] constexpr Counter counter_of(packet::ParseResult result) {
  return static_cast<Counter>(own_counter_count + static_cast<std::size_t>(result) - 1);
}

struct CounterText {
  std::string_view name;
  std::string_view text;
};
namespace detail {
inline constexpr std::array<CounterText, counter_count + 1> counter_table = {{
#define X(name, text) CounterText{#name, text},
    SLUICE_PROXY_COUNTERS(X)
#undef X
#define X(name, disposition, text) CounterText{#disposition "_" #name, text},
        SLUICE_PARSE_RESULTS(X)
#undef X
}};
}  // namespace detail

/// Returns the name and the meaning of the counter with this index.
[[nodiscard]] constexpr CounterText counter_text(std::size_t index) {
  return detail::counter_table[index < own_counter_count ? index : index + 1];
}

/// Ways in which the bytes of received frames are processed: X(name, text). A regulated connection is not split; the
/// proxy rewrites the windows in its ACKs. Bytes that pass without control are also counted for each reason, that is,
/// for each forward_* counter. Bytes of dropped frames are not counted.
#define SLUICE_PROXY_HANDLINGS(X)                                                                        \
  X(controlled, "bytes of frames of connections, split or regulated, whose UE a rate controller limits") \
  X(split, "bytes of frames of split connections that congestion control alone limits")                  \
  X(passed, "bytes of frames that pass without control, by reason")

enum class Handling : std::uint8_t {
#define X(name, text) name,
  SLUICE_PROXY_HANDLINGS(X)
#undef X
};
/// Name and meaning of each way in which bytes are processed, indexed by Handling.
inline constexpr std::array handling_table = {
#define X(name, text) CounterText{#name, text},
    SLUICE_PROXY_HANDLINGS(X)
#undef X
};

/// Counters of one shard. Thread: the shard's; copies may be used in any thread.
class Counters {
 public:
  void add(Counter counter, std::uint64_t amount = 1) { values_[static_cast<std::size_t>(counter)] += amount; }
  /// Adds the bytes of frames of a split connection, or of an end-to-end connection whose UE a rate controller limits.
  /// `controlled` is true if a rate controller limits the UE of the connection.
  void add_controlled_bytes(bool controlled, std::uint64_t bytes) { controlled_bytes_[controlled ? 0 : 1] += bytes; }
  /// Adds the bytes of a frame that is forwarded without control. `reason` is the forward_* counter that counts the
  /// frame.
  void add_passed_bytes(Counter reason, std::uint64_t bytes) {
    passed_bytes_[static_cast<std::size_t>(reason)] += bytes;
  }
  /// Returns the number of bytes that were processed in the way `handling`.
  [[nodiscard]] std::uint64_t bytes(Handling handling) const {
    if (handling != Handling::passed) return controlled_bytes_[static_cast<std::size_t>(handling)];
    return std::accumulate(passed_bytes_.begin(), passed_bytes_.end(), std::uint64_t{0});
  }
  /// Returns the number of bytes in frames that were forwarded without control for one reason. `index` is the index of
  /// the forward_* counter that counts these frames.
  [[nodiscard]] std::uint64_t passed_bytes_at(std::size_t index) const { return passed_bytes_.at(index); }
  [[nodiscard]] std::uint64_t operator[](Counter counter) const { return values_[static_cast<std::size_t>(counter)]; }
  [[nodiscard]] std::uint64_t at(std::size_t index) const { return values_.at(index); }
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < counter_count; ++i) {
      values_[i] += other.values_[i];
      passed_bytes_[i] += other.passed_bytes_[i];
    }
    for (std::size_t i = 0; i < controlled_bytes_.size(); ++i) controlled_bytes_[i] += other.controlled_bytes_[i];
    return *this;
  }

  [[nodiscard]] std::uint64_t received() const {
    return (*this)[Counter::received_radio] + (*this)[Counter::received_core];
  }
  [[nodiscard]] std::uint64_t forwarded() const { return sum("forward_"); }
  [[nodiscard]] std::uint64_t dropped() const { return sum("drop_"); }

 private:
  [[nodiscard]] std::uint64_t sum(std::string_view prefix) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counter_count; ++i) {
      if (counter_text(i).name.substr(0, prefix.size()) == prefix) total += values_[i];
    }
    return total;
  }
  std::array<std::uint64_t, counter_count> values_{};
  /// bytes of frames that were forwarded without control, indexed by the forward_* counter of the frame
  std::array<std::uint64_t, counter_count> passed_bytes_{};
  /// bytes processed as Handling::controlled (index 0) and as Handling::split (index 1)
  std::array<std::uint64_t, 2> controlled_bytes_{};
};

}  // namespace sluice::proxy

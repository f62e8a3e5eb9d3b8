#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Defines two counters for each release reason: one of the forwarded frames, one of the connections.
#define SLUICE_PROXY_FORWARD_RELEASED(name, text) X(forward_##name, "forwarded: its connection was split before: " text)
#define SLUICE_PROXY_RELEASED(name, text) X(name, "split connections handed back to plain forwarding: " text)

/// List of the shard's own counters: X(name, meaning). Every frame is accounted for: received_* = optimised + the sum
/// of forward_* + the sum of drop_*. Outcomes of packet::parse() other than TCP have counters of their own, named
/// forward_… or drop_… depending on what happens to the frame.
#define SLUICE_PROXY_COUNTERS(X)                                                                                   \
  X(received_radio, "frames taken from the radio port")                                                            \
  X(received_core, "frames taken from the core port")                                                              \
  X(optimised, "segments delivered to a split connection")                                                         \
  X(forward_bypass_mode, "forwarded: mode is bypass")                                                              \
  X(forward_handshake, "forwarded: SYN, SYN-ACK or the ACK that completes a tracked handshake")                    \
  X(forward_reset_handshake, "forwarded: the reset that ends a tracked handshake (refused)")                       \
  X(forward_regulated, "forwarded: of a connection that passes end to end under a law")                            \
  X(forward_tracked, "forwarded: of a connection known from its SYN that passes end to end under none")            \
  X(forward_regulated_unread, "forwarded: of such a connection, with a wrong checksum; nothing learned")           \
  X(forward_mid_flow, "forwarded: TCP of a connection whose SYN was not seen, or is forgotten")                    \
  SLUICE_PROXY_RELEASE_REASONS(SLUICE_PROXY_FORWARD_RELEASED)                                                      \
  X(forward_released_earlier_run, "forwarded: an earlier run of the program had split its connection")             \
  X(forward_not_ue, "forwarded: the address on the radio side is not in ue_prefixes")                              \
  X(forward_flow_limit, "forwarded: SYN beyond max_flows or max_bearers")                                          \
  X(forward_memory, "forwarded: SYN while packet buffers are short")                                               \
  X(forward_draining, "forwarded: SYN while the proxy drains")                                                     \
  X(forward_handback, "forwarded: of a connection that is being handed back, behind what is still ours")           \
  X(forward_syn_options, "forwarded: a SYN with options that cannot be split (MPTCP, TFO data, AO, MD5 …)")        \
  X(forward_syn_data, "forwarded: a SYN that carries data")                                                        \
  X(forward_handshake_damaged, "forwarded: of a handshake, with a wrong or refused checksum; nothing learned")     \
  X(forward_handshake_unseen, "forwarded: of a handshake of which segments went by unseen; not split")             \
  X(forward_accurate_ecn, "forwarded: a SYN-ACK that agrees on accurate ECN (RFC 9768); not split")                \
  X(forward_simultaneous_open, "forwarded: a SYN that crosses another one; not split")                             \
  X(drop_tcp_checksum, "dropped: TCP checksum of a split connection's segment is wrong")                           \
  X(drop_orphan, "dropped: of a connection that lost bytes with an earlier run; its sender is reset instead")      \
  X(drop_partial_checksum, "dropped: unfinished TCP checksum on a port, or of a host, that has none")              \
  X(drop_too_long, "dropped: to be forwarded, and longer than the other port's MTU")                               \
  X(rx_partial_checksum, "segments taken with an unfinished (offloaded) checksum")                                 \
  X(segments_cut_through, "of the optimised, segments that went on at once, in their own frames")                  \
  X(transmitted_radio, "frames handed to the radio port")                                                          \
  X(transmitted_core, "frames handed to the core port")                                                            \
  X(flows_opened, "handshakes tracked: a SYN and its SYN-ACK")                                                     \
  X(flows_split, "connections split")                                                                              \
  X(flows_refused, "tracked handshakes that ended in a reset")                                                     \
  X(flows_closed, "split connections that closed on both sides")                                                   \
  X(flows_reset, "split connections that a reset ended")                                                           \
  X(flows_reset_by_stop, "split connections reset on both sides: the program ended, and bytes were held")          \
  X(orphans_reset, "connections that lost bytes with an earlier run, and whose hosts both know now")               \
  X(flows_timed_out, "split connections given up after too many retransmissions")                                  \
  X(flows_reset_memory, "split connections reset for want of packet buffers: large, and without progress")         \
  X(flows_stalled, "split connections reset: a host took nothing of what was held for it")                         \
  X(flows_orphaned, "… after the one that had sent it was gone or had reset")                                      \
  X(out_of_order_forgotten, "times that segments held out of order were forgotten: no turn, or no buffers")        \
  X(icmp_believed, "errors of routers about what a split connection has outstanding")                              \
  X(icmp_not_believed, "such errors that quote nothing outstanding, or name a size that cannot be")                \
  X(paths_smaller_radio, "times segments to the radio became smaller because a router said so")                    \
  X(paths_smaller_core, "times segments to the core became smaller because a router said so")                      \
  X(flows_split_again, "connections that had been handed back and are split again")                                \
  X(flows_split_by_switch, "connections that were end to end when the policies changed, and are split since")      \
  SLUICE_PROXY_RELEASE_REASONS(SLUICE_PROXY_RELEASED)                                                              \
  X(released_forgotten, "connections handed back that are no longer tracked: newer ones needed their place")       \
  X(flows_regulated, "connections that pass end to end under a law")                                               \
  X(windows_rewritten, "ACKs that went on with another window than they came with")                                \
  X(acks_held, "ACKs that had to wait")                                                                            \
  X(acks_overdue, "ACKs that went on because their time was up")                                                   \
  X(acks_freed, "ACKs that went on because packet buffers were short")                                             \
  X(policies_applied, "times that other policies were put in force")                                               \
  X(handshake_timeouts, "tracked handshakes that went nowhere")                                                    \
  X(time_waits_displaced, "closed connections forgotten before tcp.time_wait because newer ones needed the place") \
  X(handshakes_displaced, "SYNs or handshakes forgotten because newer ones needed their place (a flood?)")         \
  X(bearers_opened, "bearers created")                                                                             \
  X(retransmitted_radio, "segments retransmitted towards the radio")                                               \
  X(retransmitted_core, "segments retransmitted towards the core")                                                 \
  X(fast_recoveries_radio, "loss recoveries towards the radio that did not need the timer")                        \
  X(fast_recoveries_core, "loss recoveries towards the core that did not need the timer")                          \
  X(timeouts_radio, "retransmission timeouts towards the radio")                                                   \
  X(timeouts_core, "retransmission timeouts towards the core")                                                     \
  X(buffers_exhausted, "transmissions put off because no packet buffer was left")                                  \
  X(segments_too_long, "transmissions put off because the port does not carry so long a segment")                  \
  X(payload_refused, "segments whose payload was not kept for want of packet buffers, nor acknowledged")           \
  X(reports, "bearer records taken from reports")                                                                  \
  X(reports_unknown_bearer, "bearer records for a UE that has no bearer here")                                     \
  X(reports_stale, "bearer records older than the newest one applied")                                             \
  X(reports_distrusted, "bearer records that the UE's acknowledgements contradict, and nothing was made of")       \
  X(steps_too_long, "times that a full radio buffer came to last no longer than a step of SMVS")                   \
  X(steps_too_coarse, "times that a radio link came to vary faster than two steps of SMVS can tell")               \
  X(reports_elsewhere, "bearer records from a Node-B that does not serve the UE, or no longer")                    \
  X(reporters_changed, "times that a UE's reports came from another Node-B from then on: handovers")               \
  X(fallbacks, "bearers that fell back to congestion control because reports were late")                           \
  X(recoveries, "bearers that came back to their law because reports did")

enum class Counter : std::uint8_t {
#define X(name, text) name,
  SLUICE_PROXY_COUNTERS(X)
#undef X
      own_count
};
inline constexpr std::size_t own_counter_count = static_cast<std::size_t>(Counter::own_count);
/// Number of all counters: the shard's own, then one for each outcome of packet::parse() except `tcp`.
inline constexpr std::size_t counter_count = own_counter_count + packet::parse_result_count - 1;

/// Returns the counter of connections that are released for this reason.
[[nodiscard]] constexpr Counter counter_of(ReleaseReason reason) {
  return static_cast<Counter>(static_cast<std::size_t>(Counter::released_idle) + static_cast<std::size_t>(reason) -
                              static_cast<std::size_t>(ReleaseReason::released_idle));
}
static_assert(counter_of(ReleaseReason::released_unsplittable) == Counter::released_unsplittable);

/// Returns the counter of frames that are forwarded because their connection was released earlier for this reason.
[[nodiscard]] constexpr Counter forwarded_since(ReleaseReason reason) {
  if (reason == ReleaseReason::none || reason == ReleaseReason::never_split) return Counter::forward_mid_flow;
  return static_cast<Counter>(static_cast<std::size_t>(Counter::forward_released_idle) +
                              static_cast<std::size_t>(reason) -
                              static_cast<std::size_t>(ReleaseReason::released_idle));
}
static_assert(forwarded_since(ReleaseReason::released_unsplittable) == Counter::forward_released_unsplittable);
static_assert(forwarded_since(ReleaseReason::released_earlier_run) == Counter::forward_released_earlier_run);

/// Returns the counter of frames for which packet::parse() has this result; it must not be `tcp`.
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

/// Returns name and meaning of the counter with this index.
[[nodiscard]] constexpr CounterText counter_text(std::size_t index) {
  return detail::counter_table[index < own_counter_count ? index : index + 1];
}

/// Counters of one shard. Thread: the shard's; copies may be used in any thread.
class Counters {
 public:
  void add(Counter counter, std::uint64_t amount = 1) { values_[static_cast<std::size_t>(counter)] += amount; }
  [[nodiscard]] std::uint64_t operator[](Counter counter) const { return values_[static_cast<std::size_t>(counter)]; }
  [[nodiscard]] std::uint64_t at(std::size_t index) const { return values_.at(index); }
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < counter_count; ++i) values_[i] += other.values_[i];
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
};

}  // namespace sluice::proxy

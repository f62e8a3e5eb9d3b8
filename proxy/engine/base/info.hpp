#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "control/long_term_rate.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/controller.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Snapshot of one connection for status displays. Arrays are indexed by the Side of the host to which the values
/// refer: 0 radio (UE), 1 core (server).
struct FlowInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;

  /// phase of the connection, such as handshake, split, handing back, regulated or observed
  const char* phase = "";
  /// Reason why the connection is or was released (handed back to its hosts), or why the proxy resets it; such as
  /// released_idle. Empty if neither applies.
  const char* reason = "";
  /// Name of the HandbackBlocker that delays a requested handback to the hosts. "end to end" if the policy requires a
  /// split and the connection is not split yet.
  const char* blocker = "";
  /// TCP state of each leg (endpoint of the proxy) of a split connection, with its name in RFC 9293
  const char* state[2] = {"", ""};
  Bytes in_flight[2];
  Bytes congestion_window[2];
  Bytes peer_window[2];
  Duration srtt[2]{};
  Duration rto[2]{};
  /// Bytes that the proxy has received for the host on this side, and that this host has not acknowledged yet.
  Bytes held[2];
  std::uint64_t retransmissions[2] = {0, 0};

  /// IP bytes of data sent to the UE, including retransmissions; only for split connections.
  std::optional<Bytes> sent_to_radio{};
  /// number of ACKs from the UE that the proxy currently delays; only for end-to-end connections
  std::uint16_t acks_held = 0;
};

/// Number of entries in a shard's table of the largest flows that are forwarded without control.
inline constexpr std::size_t max_passing = 64;

/// Snapshot, for status displays, of a flow that is forwarded without control. The flow is a TCP connection, the
/// datagrams of one UDP 5-tuple, or all packets of another protocol between two hosts.
struct PassingInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;  ///< port of the UE; 0 if the packets have no TCP or UDP header
  std::uint16_t server_port = 0;
  std::uint8_t protocol = 0;  ///< number of the IP protocol
  const char* reason = "";    ///< name of the forward_* counter that counted the newest sampled packet of the flow
  /// Number of bytes that the flow has carried since its first sampled packet, estimated from samples. Up to
  /// `uncertain` of them may belong to another flow.
  std::uint64_t bytes = 0;
  /// part of `bytes` that may belong to the flow that used this table entry before
  std::uint64_t uncertain = 0;
  Instant first{};  ///< time of the flow's first sampled packet
  Instant last{};   ///< time of the flow's newest sampled packet
};

/// Compares the decisions of a controller in mode observe, where it limits nothing, with the actual traffic. A window
/// is compared with the bytes in flight at every ACK. An allowance (bytes to send until the next Node-B report) is
/// compared with the bytes sent in this time.
struct Observed {
  std::uint64_t decisions = 0;
  /// sum in bytes of the windows or allowances (bytes to send until the next Node-B report) that the controller
  /// computed
  double decided_bytes = 0;
  /// Sum of the actual bytes with which `decided_bytes` is compared: bytes in flight for each window, bytes sent for
  /// each allowance (bytes to send until the next Node-B report).
  double actual_bytes = 0;
  /// number of ACKs to the server that the controller would have delayed if its decisions were applied
  std::uint64_t waits = 0;
  /// number of samples of the queueing delay, by which decided_delay_s and actual_delay_s are divided to get means
  std::uint64_t delays = 0;
  /// Sum over all samples, in seconds, of the target queueing delay, which would arise in the radio queue if the
  /// controller's window were applied.
  double decided_delay_s = 0;
  /// Sum over all samples, in seconds, of the queueing delay that the traffic actually had: smoothed round-trip time
  /// minus the round-trip time through an empty radio queue.
  double actual_delay_s = 0;

  /// Adds one decision in mode observe, in which decisions are computed but not applied. `decided` is the window or
  /// allowance (bytes to send until the next Node-B report) that the controller computed. `actual` is the number of
  /// bytes in flight (window) or sent (allowance). `waited` is true if the controller would have delayed the ACK.
  void add(Bytes decided, Bytes actual, bool waited) {
    ++decisions;
    decided_bytes += static_cast<double>(decided.count());
    actual_bytes += static_cast<double>(actual.count());
    if (waited) ++waits;
  }
  /// Adds one sample of the delay in the radio queue. `decided` is the target delay, which the window computed by the
  /// controller would cause. `actual` is the delay that the traffic has now.
  void add_delays(Duration decided, Duration actual) {
    ++delays;
    decided_delay_s += to_seconds(decided);
    actual_delay_s += to_seconds(actual);
  }
  Observed& operator+=(const Observed& other) {
    decisions += other.decisions;
    decided_bytes += other.decided_bytes;
    actual_bytes += other.actual_bytes;
    waits += other.waits;
    delays += other.delays;
    decided_delay_s += other.decided_delay_s;
    actual_delay_s += other.actual_delay_s;
    return *this;
  }
};

/// Totals of the radio queues of one group of UEs: the control group, which rate controllers never limit, or all other
/// UEs. Each Node-B report is one sample of a queue. For a UE without a recent report, FlowStats takes samples while
/// data is in flight, if the ACK-based controller limits or observes the UE.
struct GroupTotals {
  std::uint64_t reports = 0;

  /// number of samples of the queue length, from Node-B reports or from the ACK-based controller
  std::uint64_t samples = 0;
  std::uint64_t transmitted = 0;  ///< bytes that have left the radio queues since the shard began
  std::uint64_t dropped = 0;
  double queue_bytes = 0;  ///< sum over all samples of the queue length in bytes
  /// Sum of the queueing delays of those samples for which the link's mean rate is known, in seconds. The delay of a
  /// sample is its queue length divided by that rate.
  double queue_delay_s = 0;
  std::uint64_t delay_samples = 0;  ///< number of samples that are included in queue_delay_s
  /// Sums over the group that compare the controllers' decisions with the actual traffic in mode observe, in which
  /// decisions are not applied.
  Observed observed;

  GroupTotals& operator+=(const GroupTotals& other) {
    reports += other.reports;
    samples += other.samples;
    transmitted += other.transmitted;
    dropped += other.dropped;
    queue_bytes += other.queue_bytes;
    queue_delay_s += other.queue_delay_s;
    delay_samples += other.delay_samples;
    observed += other.observed;
    return *this;
  }
};
/// Totals of the radio queues. Index 0: UEs that rate controllers may limit. Index 1: the control group, which they
/// never limit.
using GroupStatistics = std::array<GroupTotals, 2>;

/// Numbers of connections that are split or being handed back to their hosts, by the condition (HandbackBlocker) that
/// delays the handback. `none` counts connections whose handback was not requested, or is no longer delayed.
struct StayingFlows {
  std::array<std::uint32_t, blocker_count> by_blocker{};
  std::uint32_t total = 0;

  /// number of connections that would lose data if the proxy stopped now, because the proxy holds bytes that it has
  /// acknowledged
  std::uint32_t broken_by_a_stop = 0;
};

/// Snapshot of one bearer (all connections of a UE under one policy) for status displays.
struct BearerInfo {
  IpAddress ue;
  const char* mode = "";  ///< name of the mode that the bearer's policy selects
  /// index of the bearer's policy; the default settings have the index after the last policy
  std::uint16_t policy = 0;
  bool in_control_group = false;  ///< true if the UE is in the control group, so that no rate controller limits it
  /// Sums that compare the controller's decisions for this bearer with the actual traffic in mode observe, in which
  /// decisions are not applied.
  Observed observed;
  std::uint32_t flows = 0;
  Controller controller = Controller::congestion_control;  ///< what controls how much the proxy sends to the UE
  /// Number of bytes that the report-based controller last allowed to send, for a Node-B report or in place of a
  /// missing one.
  Bytes allowance;
  /// Sum of the congestion windows of the bearer's radio legs (TCP endpoints facing the UE) in bytes.
  Bytes congestion_window;
  Bytes in_flight;  ///< bytes in flight: payload summed over the radio legs, or IP bytes of all connections if the
                    ///< bearer has an ACK-based controller
  /// Bytes that may be in flight now: the bytes in flight plus the bytes that may still be sent. The latter are the
  /// controller's send budget, or what the congestion windows allow if there is no budget. Not set if there is neither
  /// a budget nor a split connection.
  std::optional<Bytes> window;
  Bytes held;    ///< bytes held for the UE: unsent, or sent and not acknowledged
  Bytes unsent;  ///< bytes held for the UE and not yet sent
  /// number of connections that have data to send but must wait for the ACK-based controller's window; 0 in mode
  /// observe
  std::uint32_t waiting = 0;
  /// IP bytes of cross traffic (packets of no split or end-to-end connection, such as QUIC) that wait until the
  /// controller allows them.
  Bytes cross_traffic_waiting;
  Duration uplink_wait{};    ///< time that the newest ACK with a known delay has waited for the UE's uplink
  Instant uplink_wait_at{};  ///< arrival time of that ACK; zero if there was none
  /// number of packets from the UE that were dropped or marked because of that wait, or would be in mode observe
  std::uint64_t uplink_signals = 0;
  /// cumulative IP bytes sent to the UE; counted while a controller may limit a bearer of the UE
  std::uint64_t injected = 0;
  Bytes queue;            ///< bytes in the radio queue according to the last Node-B report
  Instant reported_at{};  ///< time when the last Node-B report was received; 0 before the first
  /// false while the Node-B's reports are distrusted, because the UE's ACKs have contradicted them for some seconds
  bool report_trusted = true;
  Bytes queue_by_acks;  ///< bytes in the radio queue as estimated by the ACK-based controller, if it runs
  /// true if the ACK-based controller measures the queue, even if it only observes and limits nothing
  bool measured_by_acks = false;

  /// window that the ACK-based controller computes now in mode observe, in which it limits nothing; else not set
  std::optional<Bytes> observed_window{};
  /// Target queueing delay of the ACK-based controller in mode observe, in which it limits nothing. Not set while the
  /// link's rate is unknown, and in other modes.
  std::optional<Duration> observed_delay{};
  Rate service_rate;  ///< service rate of the radio queue, according to the last Node-B report
  Rate mean_rate;     ///< mean service rate b̄ of the radio queue
  /// long-term rate of the radio link; empty unless a policy advises a share of it (scone_link_share)
  control::LongTermRate long_term_rate;
  /// ŝ: predicted length of the radio queue minus its target, in bytes, if the proxy computes SMVS (the sliding-mode
  /// controller)
  double predicted_error = 0;
  /// Number of times that Node-B reports ceased to control the sending, because they were late or stated that the radio
  /// link was released.
  std::uint64_t falls = 0;
};

/// Maximum age of a Node-B report whose queue length status displays show. If the last report is older, they show the
/// queue length that the ACK-based controller estimates.
inline constexpr Duration report_is_fresh_for = std::chrono::seconds(1);

/// Length of a UE's radio queue, as all status displays show it.
struct RadioQueueView {
  /// source of the queue length: "reports" or "acknowledgements"; null while the length is unknown
  const char* source = nullptr;
  Bytes queue;                    ///< bytes in the queue; valid if `source` is not null
  std::optional<Duration> delay;  ///< time to empty the queue at its mean rate; not set if queue or rate is unknown
};
/// Returns the length of the radio queue according to a recent Node-B report. If there is none, returns the estimate of
/// the ACK-based controller, provided that it limits or observes the bearer.
[[nodiscard]] RadioQueueView radio_queue_of(const BearerInfo& bearer, Instant now);

}  // namespace sluice::proxy

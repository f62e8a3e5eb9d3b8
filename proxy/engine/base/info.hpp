#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/controller.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Snapshot of one connection for status displays. Arrays have two elements, one per leg (side of a split connection):
/// 0 radio, 1 core.
struct FlowInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;

  /// phase of the connection, such as handshake, split, handing back, released, regulated, observed or bypassed
  const char* phase = "";
  const char* reason = "";          ///< reason of the release, or of a reset by the proxy, such as released_idle
  const char* blocker = "";         ///< reason that delays a requested handback to the hosts (HandbackBlocker)
  const char* state[2] = {"", ""};  ///< TCP states, as RFC 9293 names them
  Bytes in_flight[2];
  Bytes congestion_window[2];
  Bytes peer_window[2];
  Duration srtt[2]{};
  Duration rto[2]{};
  Bytes held[2];  ///< bytes acknowledged to the other host and not yet by this one (ack exposure)
  std::uint64_t retransmissions[2] = {0, 0};

  /// IP bytes of data sent to the UE, retransmissions included; split connections only
  std::optional<Bytes> sent_to_radio{};
  std::uint16_t acks_held = 0;  ///< number of ACKs from the UE that are withheld; regulated connections only
};

/// Largest number of flows in a shard's table of the largest flows that are forwarded without control.
inline constexpr std::size_t max_passing = 64;

/// Snapshot, for status displays, of a flow that is forwarded without control. It is a TCP connection, or all packets
/// of another protocol between two hosts.
struct PassingInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;  ///< 0 for protocols without ports
  std::uint16_t server_port = 0;
  std::uint8_t protocol = 0;  ///< number of the IP protocol
  const char* reason = "";    ///< name of the forward_* counter that counted the newest sampled packet of the flow
  /// Estimate of the flow's bytes since `first`; it may be too large by up to `uncertain`.
  std::uint64_t bytes = 0;
  std::uint64_t uncertain = 0;  ///< part of `bytes` that may belong to a flow which used this table entry before
  Instant first{};              ///< time of the first sample
  Instant last{};               ///< time of the newest sample
};

/// Sums that compare the decisions of a controller in mode observe, which changes nothing, with the actual traffic. A
/// window is compared with the bytes in flight at every ACK, an allowance with the bytes sent at every Node-B report.
struct Observed {
  std::uint64_t decisions = 0;
  double decided_bytes = 0;    ///< sum of the windows or allowances that the controller decided
  double actual_bytes = 0;     ///< sum of the bytes that were in flight or sent at these decisions
  std::uint64_t waits = 0;     ///< number of ACKs that the controller would have withheld
  std::uint64_t delays = 0;    ///< number of decisions of the ACK-based controller at which both delays were known
  double decided_delay_s = 0;  ///< sum of the queueing delays that the decided windows would cause
  double actual_delay_s = 0;   ///< sum of the queueing delays that round trips showed at the times of these decisions

  /// Adds one decision of an observed controller and the bytes that were in flight or sent. `waited` is true if the
  /// controller would have withheld the ACK.
  void add(Bytes decided, Bytes actual, bool waited) {
    ++decisions;
    decided_bytes += static_cast<double>(decided.count());
    actual_bytes += static_cast<double>(actual.count());
    if (waited) ++waits;
  }
  /// Adds the queueing delay that an observed controller's window aims at, and the delay that round trips show.
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

/// Totals of the radio queues of one group of UEs: the control group, or all other UEs. Each Node-B report is a sample
/// of a queue. If the ACK-based controller limits a UE and no report is fresh, FlowStats samples the queue while data
/// is in flight.
struct GroupTotals {
  std::uint64_t reports = 0;

  /// number of samples: Node-B reports, and samples of UEs that the ACK-based controller limits
  std::uint64_t samples = 0;
  std::uint64_t transmitted = 0;  ///< bytes that left the radio queues
  std::uint64_t dropped = 0;
  double queue_bytes = 0;    ///< sum over all samples of the queue length in bytes
  double queue_delay_s = 0;  ///< sum over all samples with a rate of queue length / mean rate
  Observed observed;         ///< decisions in mode observe, compared with the actual traffic

  GroupTotals& operator+=(const GroupTotals& other) {
    reports += other.reports;
    samples += other.samples;
    transmitted += other.transmitted;
    dropped += other.dropped;
    queue_bytes += other.queue_bytes;
    queue_delay_s += other.queue_delay_s;
    observed += other.observed;
    return *this;
  }
};
/// Totals of the radio queues: index 0 for the UEs that rate controllers limit, index 1 for the control group, which
/// they do not.
using GroupStatistics = std::array<GroupTotals, 2>;

/// Number of connections that are split or being handed back to their hosts, by the obstacle that prevents their
/// release. HandbackBlocker `none` counts connections whose release was not requested, or that are released with their
/// next packet.
struct StayingFlows {
  std::array<std::uint32_t, blocker_count> by_blocker{};
  std::uint32_t total = 0;

  /// connections that would lose data if the proxy stopped now, because it holds bytes that it has acknowledged
  std::uint32_t broken_by_a_stop = 0;
};

/// Snapshot of one bearer (all connections of a UE under one policy) for status displays.
struct BearerInfo {
  IpAddress ue;
  const char* mode = "";     ///< name of the mode of the bearer's policy
  std::uint16_t policy = 0;  ///< index of the bearer's policy; the number of policies stands for the default
  bool ordinary = false;     ///< true if the UE is in the control group, which stays on ordinary TCP
  Observed observed;         ///< decisions in mode observe, compared with the actual traffic
  std::uint32_t flows = 0;
  Controller controller = Controller::congestion_control;  ///< what controls the radio leg
  Bytes allowance;                                         ///< bytes that the controller's last step granted
  Bytes congestion_window;  ///< sum of the congestion windows of the bearer's radio legs in bytes
  Bytes in_flight;  ///< bytes in flight, summed over the radio legs; with the ACK-based controller IP bytes of all
                    ///< connections
  /// Bytes that may be in flight now: those in flight, and what a controller's allowance, or else the congestion
  /// windows, permit beyond them. Nothing if the proxy splits no connection and no controller runs.
  std::optional<Bytes> window;
  Bytes held;                     ///< bytes held for the UE: unsent, or sent and not acknowledged
  Bytes unsent;                   ///< bytes held for the UE and not yet sent
  std::uint32_t waiting = 0;      ///< number of flows that have data but no budget of the ACK-based controller
  Bytes cross_traffic_waiting;    ///< IP bytes of cross traffic that wait for the UE's window
  std::uint64_t injected = 0;     ///< cumulative IP bytes sent towards the radio
  Bytes queue;                    ///< bytes in the radio queue by the last Node-B report
  Instant reported_at{};          ///< time when the last Node-B report was received; 0 before the first
  bool report_trusted = true;     ///< true if ACKs did not contradict the last Node-B report
  Bytes queue_by_acks;            ///< bytes in the radio queue as estimated by the ACK-based controller, if it runs
  bool measured_by_acks = false;  ///< true if the ACK-based controller measures the queue, even if it does not limit

  /// window that the observed ACK-based controller computes now; not set if none is observed
  std::optional<Bytes> observed_window{};
  /// queueing delay that this window aims at; not set while the link's rate is unknown
  std::optional<Duration> observed_delay{};
  Rate service_rate;           ///< service rate of the radio queue by the last Node-B report
  Rate mean_rate;              ///< mean service rate b̄ of the radio queue
  double predicted_error = 0;  ///< predicted error ŝ of the queue in bytes, if SMVS runs at the proxy
  std::uint64_t falls = 0;     ///< number of fallbacks from Node-B reports to congestion control
};

/// Age up to which a Node-B report counts as current. With an older report, the length of the radio queue is taken from
/// the ACK-based controller.
inline constexpr Duration report_is_fresh_for = std::chrono::seconds(1);

/// Radio queue of a UE's bearer in the form that every status display uses.
struct RadioQueueView {
  /// source of `queue`: "reports" or "acknowledgements"; null while the queue is unknown
  const char* source = nullptr;
  Bytes queue;                    ///< bytes in the queue; valid if `source` is not null
  std::optional<Duration> delay;  ///< time to drain the queue at the mean rate; empty without a source or a rate
};
/// Returns the radio queue according to a fresh Node-B report. Without a fresh report, returns the estimate of the
/// ACK-based controller if it limits or observes the bearer.
[[nodiscard]] RadioQueueView radio_queue_of(const BearerInfo& bearer, Instant now);

}  // namespace sluice::proxy

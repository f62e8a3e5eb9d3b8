#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Snapshot of one connection. Arrays are indexed by leg: 0 radio, 1 core.
struct FlowInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  const char* phase = "";           ///< handshake, split, handing back, released, regulated, observed or bypassed
  const char* reason = "";          ///< reason of the release, or of a reset by the proxy, such as released_idle
  const char* blocker = "";         ///< reason that delays a requested handback (HandbackBlocker)
  const char* state[2] = {"", ""};  ///< TCP states, as RFC 9293 names them
  Bytes in_flight[2];
  Bytes congestion_window[2];
  Bytes peer_window[2];
  Duration srtt[2]{};
  Duration rto[2]{};
  Bytes held[2];  ///< bytes acknowledged to the far host and not yet by this one: the ack exposure
  std::uint64_t retransmissions[2] = {0, 0};
  std::optional<Bytes> sent_to_radio{};  ///< IP bytes of data, retransmissions included; split connections only
  std::uint16_t acks_held = 0;           ///< ACKs from the UE that are withheld; regulated connections only
};

/// Totals of the radio queues of the control group, or of the other UEs. A sample of a queue is a report of it. Under
/// the ACK-based controller without a fresh report, FlowStats samples each bearer that has bytes in flight.
struct GroupTotals {
  std::uint64_t reports = 0;
  std::uint64_t samples = 0;      ///< reports, and samples by acknowledgements
  std::uint64_t transmitted = 0;  ///< bytes that left the radio queues
  std::uint64_t dropped = 0;
  double queue_bytes = 0;    ///< sum of the queue lengths in the reports
  double queue_delay_s = 0;  ///< sum of queue / mean rate, over the reports with a rate

  GroupTotals& operator+=(const GroupTotals& other) {
    reports += other.reports;
    samples += other.samples;
    transmitted += other.transmitted;
    dropped += other.dropped;
    queue_bytes += other.queue_bytes;
    queue_delay_s += other.queue_delay_s;
    return *this;
  }
};
/// Totals of the treated UEs at index 0, of the control group at index 1.
using GroupStatistics = std::array<GroupTotals, 2>;

/// Compares the decisions of an observing controller with what happened. A window is compared with the bytes in
/// flight at every ACK, an allowance with the bytes sent at every report.
struct Observed {
  std::uint64_t decisions = 0;
  double decided_bytes = 0;  ///< sum of the decided windows or allowances
  double actual_bytes = 0;   ///< sum of the bytes in flight or sent
  std::uint64_t waits = 0;   ///< ACKs that the controller would have withheld

  /// Adds one decision and the bytes in flight or sent; `waited` is true if the ACK would have been withheld.
  void add(Bytes decided, Bytes actual, bool waited) {
    ++decisions;
    decided_bytes += static_cast<double>(decided.count());
    actual_bytes += static_cast<double>(actual.count());
    if (waited) ++waits;
  }
};

/// Number of connections that are split or being handed back, by what delays their handback. HandbackBlocker::none
/// counts those whose handback is not requested, or begins with their next packet.
struct StayingFlows {
  std::array<std::uint32_t, blocker_count> by_blocker{};
  std::uint32_t total = 0;
  std::uint32_t broken_by_a_stop = 0;  ///< connections that would lose data: handback::breaks_without_us()
};

/// Source that decides how much a bearer sends.
enum class SteeredBy : std::uint8_t {
  congestion_control,  ///< congestion control of each connection
  feedback,            ///< a rate controller that uses the Node-B's reports
  acknowledgements     ///< a rate controller that uses the UE's ACKs
};
[[nodiscard]] constexpr const char* to_string(SteeredBy by) {
  constexpr std::array names{"congestion control", "feedback", "acknowledgements"};
  return names.at(static_cast<std::size_t>(by));
}

/// Snapshot of one bearer.
struct BearerInfo {
  IpAddress ue;
  const char* mode = "";     ///< mode of the bearer's policy
  std::uint16_t policy = 0;  ///< index of the policy; the number of policies stands for the default
  bool ordinary = false;     ///< True if the UE is in the control group
  Observed observed;         ///< decisions and outcomes in mode observe
  std::uint32_t flows = 0;
  SteeredBy steered_by = SteeredBy::congestion_control;
  Bytes allowance;          ///< bytes granted by the last step of the controller
  Bytes congestion_window;  ///< sum of the congestion windows of the radio legs
  Bytes in_flight;          ///< sum over the radio legs; with the ACK-based controller IP bytes of all connections
  Bytes window;  ///< bytes that may be in flight now: from the allowance if a controller sets it, else the congestion
                 ///< windows
  Bytes held;    ///< bytes held for the UE: unacknowledged and unsent
  Bytes unsent;  ///< bytes held for the UE and not yet sent
  std::uint32_t waiting = 0;   ///< flows that have data but no budget of the ACK-based controller
  std::uint64_t injected = 0;  ///< IP bytes sent towards the radio
  Bytes queue;                 ///< radio queue in the last report
  Instant reported_at{};       ///< reception time of the last report; 0 before the first
  Bytes queue_by_acks;         ///< radio queue as estimated by the ACK-based controller, if it runs
  Rate service_rate;           ///< service rate in the last report
  Rate mean_rate;              ///< mean rate b̄
  double predicted_error = 0;  ///< predicted error ŝ in bytes, if SMVS runs at the proxy
  std::uint64_t falls = 0;     ///< fallbacks from reports to congestion control
};

/// Age up to which a report is fresh. An older one is replaced by the estimate from ACKs as a bearer's queue.
inline constexpr Duration report_is_fresh_for = std::chrono::seconds(1);

/// The radio queue of a bearer as every view shows it.
struct RadioQueueView {
  const char* source = nullptr;   ///< "reports" or "acknowledgements"; null while the queue is unknown
  Bytes queue;                    ///< valid with a source
  std::optional<Duration> delay;  ///< time to drain the queue at the mean rate; empty without a source or a rate
};
/// Returns the queue by a fresh report, or else by the ACK-based controller if it controls the bearer.
[[nodiscard]] RadioQueueView radio_queue_of(const BearerInfo& bearer, Instant now);

}  // namespace sluice::proxy

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/handback/release_reason.hpp"

namespace sluice::proxy {

/// What an observer may know of one connection. Index 0: the radio leg, 1: the core leg.
struct FlowInfo {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  const char* phase = "";           ///< handshake, split, handing back, released, regulated, observed or bypassed
  const char* reason = "";          ///< why it was or is to be released, or is reset by the proxy: released_idle …
  const char* obstacle = "";        ///< what keeps it here although it is to go
  const char* state[2] = {"", ""};  ///< RFC 9293 names
  Bytes in_flight[2];
  Bytes congestion_window[2];
  Bytes peer_window[2];
  Duration srtt[2]{};
  Duration rto[2]{};
  Bytes held[2];  ///< acknowledged to the far side, not yet by this one: the ack exposure
  std::uint64_t retransmissions[2] = {0, 0};
  std::optional<Bytes> sent_to_radio{};  ///< IP bytes of data, retransmissions included; split connections only
  std::uint16_t acks_held = 0;           ///< of the UE, that wait; regulated connections only
};

/// What the bearers of the control group, or the others, came to. By the reports, each UE's queue once.
struct GroupTotals {
  std::uint64_t reports = 0;
  std::uint64_t transmitted = 0;  ///< bytes that left the radio queues
  std::uint64_t dropped = 0;
  double queue_bytes = 0;    ///< sum over the reports
  double queue_delay_s = 0;  ///< sum over the reports with a rate: queue / mean rate

  GroupTotals& operator+=(const GroupTotals& other) {
    reports += other.reports;
    transmitted += other.transmitted;
    dropped += other.dropped;
    queue_bytes += other.queue_bytes;
    queue_delay_s += other.queue_delay_s;
    return *this;
  }
};
/// The treated UEs, then the control group.
using GroupStatistics = std::array<GroupTotals, 2>;

/// What a law would have decided and what happened instead: a window and what was in flight, at every ACK; or an
/// allowance and what was sent, at every report.
struct Observed {
  std::uint64_t decisions = 0;
  double decided_bytes = 0;  ///< sum
  double actual_bytes = 0;   ///< sum
  std::uint64_t waits = 0;   ///< ACKs that would have waited

  /// A law's window, or allowance, beside what was in flight, or sent. `waited`: the ACK would have.
  void add(Bytes decided, Bytes actual, bool waited) {
    ++decisions;
    decided_bytes += static_cast<double>(decided.count());
    actual_bytes += static_cast<double>(actual.count());
    if (waited) ++waits;
  }
};

/// The connections that are still split or on their way back to their hosts, by what keeps them here. `none`: they have
/// not been asked to go, or go with their next packet.
struct StayingFlows {
  std::array<std::uint32_t, obstacle_count> by_obstacle{};
  std::uint32_t total = 0;
  std::uint32_t broken_by_a_stop = 0;  ///< handback::breaks_without_us()
};

/// What decides how much a bearer sends.
enum class SteeredBy : std::uint8_t {
  congestion_control,  ///< that of each connection
  feedback,            ///< a law, by the Node-B's reports
  acknowledgements     ///< a law, by the UE's acknowledgements
};
[[nodiscard]] constexpr const char* to_string(SteeredBy by) {
  constexpr std::array names{"congestion control", "feedback", "acknowledgements"};
  return names.at(static_cast<std::size_t>(by));
}

/// What an observer may know of one bearer.
struct BearerInfo {
  IpAddress ue;
  const char* mode = "";     ///< of its policy
  std::uint16_t policy = 0;  ///< its position; the number of policies for the default
  bool ordinary = false;     ///< of the control group
  Observed observed;         ///< in mode observe
  std::uint32_t flows = 0;
  SteeredBy steered_by = SteeredBy::congestion_control;
  Bytes allowance;          ///< granted at the last step
  Bytes congestion_window;  ///< sum over the radio legs
  Bytes in_flight;          ///< sum over the radio legs; by acknowledgements IP bytes, of all its connections
  Bytes window;  ///< what may be in flight now: by the allowance where that steers, else by congestion control
  Bytes held;    ///< bytes in the relay towards the UE: unacknowledged and unsent
  Bytes unsent;  ///< … the part not sent yet
  std::uint32_t waiting = 0;   ///< flows that would send if the law by acknowledgements let them
  std::uint64_t injected = 0;  ///< IP bytes sent towards the radio
  Bytes queue;                 ///< radio queue by the last report
  Instant reported_at{};       ///< when that came; 0 before the first
  Bytes queue_by_acks;         ///< radio queue by the law by acknowledgements, where one listens
  Rate service_rate;           ///< by the last report
  Rate mean_rate;              ///< b̄
  double predicted_error = 0;  ///< ŝ in bytes, where the law runs here
  std::uint64_t falls = 0;
};

}  // namespace sluice::proxy

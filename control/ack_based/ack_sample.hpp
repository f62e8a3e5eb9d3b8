#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Input of the ACK-based controller from one ACK, or from several ACKs that arrive together. Sums cover all
/// connections of the UE.
struct AckSample {
  Instant now;
  Bytes delivered;  ///< bytes newly received by the UE, > 0
  /// Mean number of bytes that one ACK acknowledges, if the sample sums several ACKs; each ACK is weighted by its
  /// bytes. Zero if the sample is one ACK.
  Bytes ack_stretch{};
  /// RTT of the newest acknowledged segment that was sent only once (Karn's algorithm); zero if there is none.
  Duration round_trip{};
  Bytes in_flight;          ///< bytes in flight, without those considered lost
  std::uint32_t flows = 1;  ///< number of the UE's connections that share the controller's window, ≥ 1
  /// True if the sender has data that it must not send, because the controller's window is full.
  bool window_limited = false;
  /// Time that the ACK waited for the uplink: its one-way delay beyond the smallest observed one
  /// (TimestampOneWayDelay). Negative if unknown.
  Duration ack_delay{-1};
  /// Bytes of traffic that the controller does not limit, such as UDP, sent to the UE since the last sample.
  Bytes cross_traffic{};
  Bytes uploaded{};  ///< IP bytes of data that the UE has sent on split connections since the last sample
  /// time from a change of the controller's window until data that the new window allows arrives at the proxy, ≥ 0;
  /// zero on split connections
  Duration control_loop_delay{};
  Bytes lost{};  ///< bytes that the sender has marked lost since the last sample, ≥ 0
  /// Factor (0 … 1) that multiplies the target queueing delay. It is below 1 while a short flow is active, because that
  /// flow's packets wait in the same queue.
  double reference_factor = 1;
};

/// Longest time between two ACKs that counts completely as time in which the link was observed. Of a longer time only a
/// part counts, because the rest may be an outage.
inline constexpr Duration max_observed_gap = std::chrono::milliseconds(100);

}  // namespace sluice::control

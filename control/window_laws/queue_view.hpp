#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// State of one UE's radio queue after a report, for the controllers of its flows.
struct QueueView {
  Bytes queue;                      ///< IP bytes in the queue, as reported
  Bytes buffer;                     ///< B, > 0: capacity for all flows together
  Rate mean_rate;                   ///< running mean of its service rate; zero while unknown
  Rate best_rate;                   ///< largest service rate of the last second, taken as what the link can carry
  double flows = 1;                 ///< N, ≥ 1: flows that share the queue, as the controller counts them
  Duration price{};                 ///< CLAMP's price p
  Bytes advertised = Bytes::max();  ///< GWA's φ if the Node-B computes it
  bool dropped = false;             ///< true if it has dropped packets since the previous report
  double counted_share = 1;         ///< share of an IP packet that amounts and rates count: its payload, or all of it
};

/// Position of one flow in the queue (StreamPosition): left ≤ arrived ≤ sent.
struct FlowView {
  Bytes left;             ///< position up to which the flow has left the queue
  Bytes arrived;          ///< position up to which it has reached the queue
  Bytes sent;             ///< position up to which it was sent towards the queue
  Duration round_trip{};  ///< smallest RTT seen, without queueing; zero while unknown

  [[nodiscard]] Bytes queued() const { return arrived - left; }
  /// True if no data of the flow is in the queue or in flight to it.
  [[nodiscard]] bool empty() const { return left >= sent; }
};

/// An ACK from the UE.
struct AckView {
  Instant now{};
  Bytes ack;             ///< position it acknowledges
  Bytes newly;           ///< bytes that no earlier ACK acknowledged
  Bytes offered;         ///< receive window of the UE itself in bytes
  bool limited = true;   ///< true if the controller's window limited the sender, as far as is known
  bool in_loss = false;  ///< true if the sender is in loss recovery, or about to be
};

}  // namespace sluice::control

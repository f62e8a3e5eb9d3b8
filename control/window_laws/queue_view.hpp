#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// State of one UE's radio queue after a report, for the controllers of its flows.
struct QueueView {
  Bytes queue;                      ///< bytes in the queue, as reported
  Bytes buffer;                     ///< B, > 0: capacity of the queue for all flows together
  Rate mean_rate;                   ///< running mean of the queue's service rate; zero while unknown
  Rate best_rate;                   ///< largest service rate of the last second, used as the capacity of the link
  double flows = 1;                 ///< N, ≥ 1: number of flows that share the queue, as the controller counts them
  Duration price{};                 ///< p: congestion price of the queue, which the controller CLAMP uses
  Bytes advertised = Bytes::max();  ///< φ: window that Generalized Window Advertising (GWA) offers to each flow;
                                    ///< Bytes::max() unless the Node-B computes it
  bool dropped = false;             ///< true if the queue has dropped packets since the previous report

  /// Share of an IP packet's bytes that amounts and rates in this struct count: 1 if they count IP bytes, below 1 if
  /// they count payload only.
  double counted_share = 1;
};

/// Positions of one flow's data on its way through the radio queue: left ≤ arrived ≤ sent. They count bytes of the
/// stream (StreamPosition).
struct FlowView {
  Bytes left;             ///< position up to which the flow's data has left the queue
  Bytes arrived;          ///< position up to which the flow's data has reached the queue
  Bytes sent;             ///< position up to which the flow's data was sent towards the queue
  Duration round_trip{};  ///< smallest RTT so far, which counts as the RTT without queueing; zero while unknown

  [[nodiscard]] Bytes queued() const { return arrived - left; }
  /// True if no data of the flow is in the queue or in flight to it.
  [[nodiscard]] bool empty() const { return left >= sent; }
};

/// Values of an ACK received from the UE.
struct AckView {
  Instant now{};
  Bytes ack;             ///< stream position that the ACK acknowledges
  Bytes newly;           ///< bytes that this ACK acknowledges for the first time
  Bytes offered;         ///< receive window in bytes that the UE advertises in the ACK
  bool limited = true;   ///< false if the controller's window is known not to have limited the sender
  bool in_loss = false;  ///< true if the sender is in loss recovery, or enters it with this ACK
};

}  // namespace sluice::control

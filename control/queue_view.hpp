#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What the proxy knows of one UE's radio queue after a report, for the laws of its flows.
struct QueueView {
  Bytes queue;                      ///< IP bytes waiting in it, as reported
  Bytes buffer;                     ///< B, > 0: what it holds, all flows together
  Rate mean_rate;                   ///< the running mean of its service rate; zero while unknown
  Rate best_rate;                   ///< its largest service rate of the last second: what the link can be taken to give
  double flows = 1;                 ///< N, ≥ 1: flows that share it, as the law counts them
  Duration price{};                 ///< CLAMP's p
  Bytes advertised = Bytes::max();  ///< GWA's φ where the Node-B computes it
  bool dropped = false;             ///< it has turned packets away since the report before
  double counted_share = 1;         ///< of an IP packet that amounts and rates count: its payload, or all of it
};

/// Where one flow stands in that queue, in positions (StreamPosition): left ≤ arrived ≤ sent.
struct FlowView {
  Bytes left;             ///< … up to here it has left the queue
  Bytes arrived;          ///< … reached it
  Bytes sent;             ///< … was sent towards it
  Duration round_trip{};  ///< without queueing, the shortest seen; zero while unknown

  [[nodiscard]] Bytes queued() const { return arrived - left; }
  /// Nothing of the flow is in the queue or under way to it.
  [[nodiscard]] bool empty() const { return left >= sent; }
};

/// An acknowledgement that has come from the UE.
struct AckView {
  Instant now{};
  Bytes ack;             ///< the position it acknowledges
  Bytes newly;           ///< what no earlier one acknowledged
  Bytes offered;         ///< the window the UE itself offers
  bool limited = true;   ///< the law's window is what held the sender back, as far as is known
  bool in_loss = false;  ///< the sender is repairing a loss, or about to
};

}  // namespace sluice::control

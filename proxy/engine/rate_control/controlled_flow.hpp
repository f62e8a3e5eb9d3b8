#pragma once

#include <cstdint>

#include "control/window_laws/active_flows.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "control/window_laws/queue_marks.hpp"
#include "dataplane/flow/flow_key.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Minimum window in segments, even if a controller computes less. Without an ACK in flight no window would ever open.
inline constexpr std::int64_t min_window_segments = 2;

/// A connection under a per-flow window controller, in the direction to the UE: its position in the radio queue, and
/// the controller. The owner chooses the unit of positions. For an end-to-end connection they count bytes of the stream
/// (control::StreamPosition). For a split connection they count IP bytes sent, retransmissions included, and
/// "acknowledged" means no longer in flight. Thread: its shard's.
class ControlledFlow {
 public:
  /// Creates the controller from `start`. Position 0 is that of the next byte to send.
  ControlledFlow(const Bearer& bearer, const flow::FlowKey& whose, const control::LawStart& start);

  /// Records data up to position `end`, which was just sent to the UE and is counted in bearer.sent().
  void on_sent(const Bearer& bearer, Bytes end);
  /// Records that `payload` bytes occupy `packet` bytes in the queue. The largest packet determines the ratio of both.
  /// Only for owners whose positions count payload.
  void carried(Bytes payload, Bytes packet);
  /// Processes the UE's acknowledgement up to position `ack`. Returns which withheld ACKs are to be released.
  control::AckRelease on_ack(Bearer& bearer, const control::AckView& ack);
  /// Processes a Node-B report that has arrived since the last call. Returns which delayed ACKs are released; without a
  /// new report none is.
  control::AckRelease on_report(Bearer& bearer, Instant now);
  /// Records that an ACK for `ack` with this `window` was forwarded to the server.
  void on_released(const Bearer& bearer, Bytes ack, Bytes window);
  /// Returns how many bytes after position `ack` the controller permits in flight.
  [[nodiscard]] Bytes window(Bearer& bearer, Bytes ack, Instant now);
  /// Starts or restarts the controller on a connection that carries data. `window` is the flow's part of the bytes that
  /// the path contains without queueing.
  void seed(const Bearer& bearer, Bytes window, const control::QueueView& queue);
  /// Records a round-trip sample; the minimum of all samples is used.
  void measured(Duration round_trip);
  /// Removes the flow from the number of flows that share the radio queue.
  void leave(Bearer& bearer);

  /// Returns the position up to which the UE has acknowledged.
  [[nodiscard]] Bytes acked() const { return acked_; }
  /// Returns the position up to which data was sent.
  [[nodiscard]] Bytes sent() const { return sent_; }
  /// Returns the kind of the flow's controller.
  [[nodiscard]] control::FlowControllerKind law() const { return law_.which(); }

 private:
  /// Returns the flow's positions in the radio queue.
  [[nodiscard]] control::FlowView view(Bearer& bearer);
  /// Returns the radio queue in the unit of the flow's positions.
  [[nodiscard]] control::QueueView queue(Bearer& bearer, Instant now) const;

  /// Calls the controller and records the call in the bearer's decision log, if there is one.
  template <typename Call, typename... Arguments>
  auto ask(const Bearer& bearer, const Arguments&... arguments);

  control::FlowController law_;
  flow::FlowKey whose_;               ///< key of the connection
  control::QueueMarks marks_;         ///< maps the count of all bytes sent to the UE to positions of this flow
  control::GwaFlowCount::Mark mark_;  ///< entry of this flow in the count of active flows
  Bytes acked_;
  Bytes sent_;
  Duration round_trip_;        ///< minimum round trip of the flow; zero while unknown
  Bytes payload_{1};           ///< payload bytes of the largest packet, if positions count payload
  Bytes packet_{1};            ///< IP bytes of the largest packet
  std::uint32_t reports_ = 0;  ///< number of Node-B reports that the flow has processed
};
static_assert(sizeof(ControlledFlow) <= 672, "beside each connection under a per-flow window controller");

}  // namespace sluice::proxy

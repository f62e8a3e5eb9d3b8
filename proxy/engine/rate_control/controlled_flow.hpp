#pragma once

#include <cstdint>

#include "control/window_laws/active_flows.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "control/window_laws/queue_marks.hpp"
#include "dataplane/flow/flow_key.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Minimum window in segments, even if the controller computes a smaller one. A UE that gets a single segment may delay
/// its ACK, and only an ACK can open the window again.
inline constexpr std::int64_t min_window_segments = 2;

/// A connection with a per-flow window controller, in the direction to the UE. Contains the controller and the
/// positions up to which data was sent, has reached and has left the radio queue. The owner chooses the unit of
/// positions. For an end-to-end connection they are bytes of the stream (control::StreamPosition). For a split
/// connection they are IP bytes sent, including retransmissions; "acknowledged" then means no longer in flight. Thread:
/// the shard's.
class ControlledFlow {
 public:
  /// Creates the controller of the connection `whose` with the values in `start`. The next byte to be sent has position
  /// 0. Positions are bytes of the stream, or IP bytes sent for a split connection.
  ControlledFlow(const Bearer& bearer, const flow::FlowKey& whose, const control::FlowControllerStart& start);

  /// Records that bytes up to position `end` were sent to the UE. The position counts bytes of the stream, or IP bytes
  /// for a split connection. bearer.sent() must already include them.
  void on_sent(const Bearer& bearer, Bytes end);
  /// Records that a packet with `payload` payload bytes occupies `packet` IP bytes in the radio queue. The packet with
  /// the most payload so far determines the ratio of payload to IP bytes. Only for flows whose positions are payload
  /// bytes.
  void carried(Bytes payload, Bytes packet);
  /// Passes an acknowledgement of the UE to the controller. Returns which of the ACKs that the proxy withholds may now
  /// be forwarded to the server.
  control::AckRelease on_ack(Bearer& bearer, const control::AckView& ack);
  /// Passes the last Node-B report to the controller if it is new. Returns which of the ACKs that the proxy withholds
  /// may now be forwarded to the server; none without a new report.
  control::AckRelease on_report(Bearer& bearer, Instant now);
  /// Records that an ACK for the first `ack` bytes of the stream, with the window `window` in bytes, was forwarded to
  /// the server.
  void on_released(const Bearer& bearer, Bytes ack, Bytes window);
  /// Returns how many bytes may be in flight according to the controller, if all bytes before position `ack` are
  /// acknowledged. Bytes are those of the stream, or IP bytes for a split connection.
  [[nodiscard]] Bytes window(Bearer& bearer, Bytes ack, Instant now);
  /// Starts or restarts the controller on a connection that already carries data. `window` is the flow's share of the
  /// bandwidth-delay product. `queue` is the present state of the radio queue.
  void seed(const Bearer& bearer, Bytes window, const control::QueueView& queue);
  /// Records a round-trip time that was measured for the flow. The controller uses the minimum of all; zero is ignored.
  void measured(Duration round_trip);
  /// Removes the flow from the number of flows that share the radio queue, because it ends or leaves the bearer.
  void leave(Bearer& bearer);

  /// Returns how many bytes the UE has acknowledged. They are bytes of the stream, or IP bytes for a split connection.
  [[nodiscard]] Bytes acked() const { return acked_; }
  /// Returns how many bytes were sent to the UE. They are bytes of the stream, or IP bytes for a split connection.
  [[nodiscard]] Bytes sent() const { return sent_; }
  /// Returns the kind of the flow's controller.
  [[nodiscard]] control::FlowControllerKind law() const { return law_.which(); }

 private:
  /// Returns the positions up to which the flow's data was sent, has reached and has left the radio queue. They count
  /// bytes of the stream, or IP bytes for a split connection.
  [[nodiscard]] control::FlowView view(Bearer& bearer);
  /// Returns the state of the radio queue in the unit of this flow: payload bytes for an end-to-end connection, IP
  /// bytes for a split one.
  [[nodiscard]] control::QueueView queue(Bearer& bearer, Instant now) const;

  /// Calls the function of the controller that the type `Call` names. Records the call in the bearer's decision log, if
  /// there is one.
  template <typename Call, typename... Arguments>
  auto ask(const Bearer& bearer, const Arguments&... arguments);

  control::FlowController law_;
  flow::FlowKey whose_;  ///< key of the connection
  /// converts a total of IP bytes sent to the UE by all flows to a position in this flow's stream
  control::QueueMarks marks_;
  control::GwaFlowCount::Mark mark_;  ///< state of this flow in the estimator of the number of active flows
  Bytes acked_;
  Bytes sent_;
  Duration round_trip_;  ///< minimum round-trip time of the flow; zero while unknown
  /// payload bytes of the flow's largest packet; stays 1, like `packet_`, if positions are IP bytes
  Bytes payload_{1};
  Bytes packet_{1};  ///< IP bytes of the flow's largest packet
  /// number of Node-B reports that the bearer had applied when this flow last processed one
  std::uint32_t reports_ = 0;
};
static_assert(sizeof(ControlledFlow) <= 672, "beside each connection under a per-flow window controller");

}  // namespace sluice::proxy

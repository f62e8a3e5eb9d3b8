#pragma once

#include "control/window_laws/ack_release.hpp"
#include "control/window_laws/queue_view.hpp"

namespace sluice::control {

struct FlowControllerParameters;  // parameters of every controller (flow_controller_types.hpp)

/// Properties of a flow when its controller is created.
struct FlowControllerStart {
  Duration round_trip{};  ///< round trip of the handshake; zero while unknown
  Bytes segment{1448};    ///< size of the flow's largest segment, ≥ 1
};

/// Rule by which a controller counts the flows that share a queue. Its members are parameters of GwaFlowCount, which
/// computes a mean of that number.
struct FlowCounting {
  double decay = 0;
  Duration interval = std::chrono::seconds(1);
  bool by_use = false;  ///< true if a flow that uses little of the link counts as the share that it uses, and not as
                        ///< one flow
};

/// Functions that a per-flow window controller may define; one object exists per flow. A controller derives from this
/// class and defines the functions that it needs; the others do nothing. The proxy calls the functions for split and
/// for end-to-end connections. For an end-to-end connection the proxy writes the window into ACKs and forwards the
/// released ACKs. For a split connection the window limits the bytes in flight on the radio leg. No ACK is withheld
/// there, because the proxy can withhold the data itself.
struct FlowControllerHooks {
  /// True if the window is also written into ACKs towards the UE, because flows of both directions share the buffer
  /// that the controller divides.
  static constexpr bool both_ways = false;
  /// True if the controller needs only the size of the radio queue's buffer. With a configured size it needs no reports
  /// of the Node-B.
  static constexpr bool needs_buffer_only = false;

  /// Called when data of the flow up to position `end` is sent towards the queue.
  void on_data(Bytes /*end*/) {}
  /// Called for each report of the Node-B. Returns which withheld ACKs are to be released.
  [[nodiscard]] AckRelease on_queue(const QueueView&, const FlowView&) { return AckRelease::all(); }
  /// Called for each ACK of the UE. Returns which withheld ACKs are to be released.
  [[nodiscard]] AckRelease on_ack(const AckView&, const QueueView&, const FlowView&) { return AckRelease::all(); }
  /// Called when an ACK of position `ack` has been sent to the server with `window` in it.
  void on_released(Bytes /*ack*/, Bytes /*window*/) {}
  /// Returns the flow's window: the bytes that the sender may send beyond position `ack`. Bytes::max() for a controller
  /// that only delays ACKs.
  [[nodiscard]] Bytes window(Bytes /*ack*/, const QueueView&, const FlowView&) const { return Bytes::max(); }
  /// Called when this controller replaces another one. `window` is this flow's share of the bytes in flight that keep
  /// the link busy without a queue.
  void seed(Bytes /*window*/, const QueueView&) {}
  [[nodiscard]] static FlowCounting counting(const FlowControllerParameters&) { return {}; }
  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. A controller with such members
  /// declares its own function; this one visits nothing.
  template <typename Self, typename Visit>
  static void fields(Self& /*self*/, Visit& /*visit*/) {}
};

}  // namespace sluice::control

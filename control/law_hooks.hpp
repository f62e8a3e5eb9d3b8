#pragma once

#include "control/ack_release.hpp"
#include "control/queue_view.hpp"

namespace sluice::control {

struct LawParameters;  // of every law (flow_laws.hpp)

/// What a law is told of its flow at the start.
struct LawStart {
  Duration round_trip{};  ///< of the handshake; zero while unknown
  Bytes segment{1448};    ///< the largest segment, ≥ 1
};

/// How the flows that share a queue are counted for a law: N of GwaFlowCount.
struct FlowCounting {
  double decay = 0;
  Duration interval = std::chrono::seconds(1);
  bool by_use = false;  ///< a flow that takes little of the link counts for as little
};

/// The hooks of a law of windows, one object per flow, all doing nothing: a law hides the ones it needs. It is told the
/// same wherever its flow is intercepted. Where the connection passes end to end, the window goes into the ACKs and the
/// releases say which of them go on; where the connection is split, the window bounds what is in flight towards the
/// radio and nothing is held, since the relay holds the data itself.
struct LawHooks {
  /// The window goes into the ACKs towards the UE, too: the law divides something that both directions share.
  static constexpr bool both_ways = false;
  /// Of the radio queue the law wants to know the buffer alone: where that is configured it needs no report.
  static constexpr bool needs_buffer_only = false;

  /// Data up to `end` passes towards the queue.
  void on_data(Bytes /*end*/) {}
  /// A report has come.
  [[nodiscard]] AckRelease on_queue(const QueueView&, const FlowView&) { return AckRelease::all(); }
  /// An ACK has come from the UE.
  [[nodiscard]] AckRelease on_ack(const AckView&, const QueueView&, const FlowView&) { return AckRelease::all(); }
  /// An ACK of `ack` has gone to the server with `window` in it.
  void on_released(Bytes /*ack*/, Bytes /*window*/) {}
  /// The window after `ack`; Bytes::max() for a law that only times ACKs.
  [[nodiscard]] Bytes window(Bytes /*ack*/, const QueueView&, const FlowView&) const { return Bytes::max(); }
  /// The law takes over from another. `window` is the flow's part of what the path holds without its queue.
  void seed(Bytes /*window*/, const QueueView&) {}
  [[nodiscard]] static FlowCounting counting(const LawParameters&) { return {}; }
  /// Its state, for a trace (control/trace/states.hpp): a law that has any hides this.
  template <typename Self, typename Visit>
  static void fields(Self& /*self*/, Visit& /*visit*/) {}
};

}  // namespace sluice::control

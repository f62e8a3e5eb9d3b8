#pragma once

#include <cstdint>

#include "control/active_flows.hpp"
#include "control/queue_marks.hpp"
#include "control/window_laws.hpp"
#include "dataplane/flow/flow_key.hpp"
#include "proxy/bearer/bearer.hpp"

namespace sluice::proxy {

/// No law's window is taken for less: without an acknowledgement under way none would ever open it.
inline constexpr std::int64_t least_window_segments = 2;

/// A connection under a law of windows, in the direction towards the UE: where it stands in the UE's radio queue, and
/// the law. What a position is decides who owns it: where the connection passes end to end, a byte of the stream
/// (control::StreamPosition); where it is split, a byte that was put on the wire, repetitions and headers included, and
/// "acknowledged" is what is no longer in flight. Thread: its shard's.
class GovernedFlow {
 public:
  /// `start` is what the law begins with; position 0 is what is sent next.
  GovernedFlow(const Bearer& bearer, const flow::FlowKey& whose, const control::LawStart& start);

  /// Data up to position `end` went towards the UE just now and is counted in bearer.sent().
  void on_sent(const Bearer& bearer, Bytes end);
  /// A position counts payload, and so much of it makes a packet of so many bytes in the queue. Of all that are told
  /// the largest counts. Never told where positions count packets.
  void carried(Bytes payload, Bytes packet);
  /// The UE acknowledges up to position `ack`.
  control::AckRelease on_ack(Bearer& bearer, const control::AckView& ack);
  /// Takes up a report that has come since the last call; nothing when there is none.
  control::AckRelease on_report(Bearer& bearer, Instant now);
  /// An ACK has gone to the server, with `window` in it.
  void on_released(const Bearer& bearer, Bytes ack, Bytes window);
  /// The law's window after `ack`.
  [[nodiscard]] Bytes window(Bearer& bearer, Bytes ack, Instant now);
  /// The law begins, or begins again, on a connection that runs: `window` is its part of the path without the queue.
  void seed(const Bearer& bearer, Bytes window, const control::QueueView& queue);
  /// The round trip was seen to be this; the shortest counts.
  void measured(Duration round_trip);
  /// The flow is no longer one of those that share the queue.
  void leave(Bearer& bearer);

  [[nodiscard]] Bytes acked() const { return acked_; }
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] control::WindowLaw law() const { return law_.which(); }

 private:
  [[nodiscard]] control::FlowView view(Bearer& bearer);
  [[nodiscard]] control::QueueView queue(Bearer& bearer, Instant now) const;

  template <typename Call, typename... Arguments>
  auto ask(const Bearer& bearer, const Arguments&... arguments);

  control::FlowLaw law_;
  flow::FlowKey whose_;
  control::QueueMarks marks_;
  control::GwaFlowCount::Mark mark_;
  Bytes acked_;
  Bytes sent_;
  Duration round_trip_;
  Bytes payload_{1};           ///< positions per …
  Bytes packet_{1};            ///< … bytes in the queue
  std::uint32_t reports_ = 0;  ///< of the bearer, that were applied
};
static_assert(sizeof(GovernedFlow) <= 672, "beside each connection under a law of windows");

}  // namespace sluice::proxy

#pragma once

#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "control/window_laws/ack_release.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Parameters of the Ack Regulator for one flow.
struct AckRegulatorParameters {
  Bytes buffer{20'000};  ///< size of this flow's queue, > 0; the paper uses 20 packets of 1 kB
  Bytes segment{1448};   ///< largest segment of the flow, > 0
};

/// Checks ranges, and that the buffer can take the data that one ACK brings during slow start.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const AckRegulatorParameters& parameters);

/// Phase of the sender's congestion control, as the Ack Regulator estimates it.
enum class SourcePhase : std::uint8_t {
  slow_start,  ///< every acknowledged byte brings two; assumed until a buffer's worth of ACKs is withheld
  avoidance,   ///< every acknowledged byte brings one; the extra segment per window is not reserved for
  recovery,    ///< after a drop: space is reserved as in slow start, so that no second drop follows
};

/// The Ack Regulator (Chan & Ramjee, MobiCom 2002, as described in INFOCOM 2004) of one flow, in bytes. It never
/// rewrites an ACK and only withholds it while the buffer could not take the data it brings.
/// All positions are StreamPosition's. Reads no clock; thread: its flow's.
///
/// A released ACK of `a` allows the source to send up to a + W. W is its window, estimated as the most that has been
/// between arrived and acknowledged data.
/// Arrivals may therefore reach a + W, which fits the free buffer iff a ≤ arrived + free − W. Errors in a count of
/// expected packets would accumulate; those of a position do not.
/// In congestion avoidance the segment by which W grows per window is not reserved for. When W exceeds pipe and buffer,
/// that segment finds the buffer full and is dropped, and the source halves W once.
///
/// Reading: INFOCOM 2004 states the algorithm's inputs and its deliberate drop, not its steps, and the MobiCom paper is
/// not available.
/// W is taken to exceed pipe and buffer if, in congestion avoidance, the buffer is full when the extra segment arrives.
/// In slow start the sign is a buffer's worth of withheld ACKs.
class AckRegulator {
 public:
  /// Makes a regulator with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit AckRegulator(const AckRegulatorParameters& parameters);

  /// Sets B, ≥ 2 segments, because more or fewer flows share the buffer.
  void set_buffer(Bytes buffer) { parameters_.buffer = buffer; }
  /// Skips the slow-start phase, because the source has been sending before.
  void source_runs() { phase_ = SourcePhase::avoidance; }
  /// Records data up to `end` from the server, whether it is queued or dropped. A retransmission changes nothing.
  void on_data(Bytes end);
  /// Records that data up to `end` found the buffer full. Call it after on_data().
  void on_drop(Bytes end);
  /// Records that the queue holds `queue` bytes of this flow now. Returns the withheld ACKs to release.
  [[nodiscard]] AckRelease on_queue(Bytes queue);
  /// Records an ACK of `ack` from the UE and returns the withheld ACKs to release. Duplicates keep their place in the
  /// order.
  [[nodiscard]] AckRelease on_ack(Bytes ack);
  /// Records that an ACK of `ack` was sent to the server.
  void on_released(Bytes ack);

  [[nodiscard]] SourcePhase phase() const { return phase_; }

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] AckRelease release();
  void watch_growth();

  AckRegulatorParameters parameters_;
  EmptyQueueRelease rescue_;
  SourcePhase phase_ = SourcePhase::slow_start;
  Bytes arrived_;   ///< highest position that came from the server
  Bytes released_;  ///< highest position acknowledged to it
  Bytes acked_;     ///< highest position the UE has acknowledged
  Bytes queue_;
  Bytes window_;           ///< W, the estimated window of the source
  Bytes round_end_;        ///< position whose ACK to the server ends the round
  Bytes window_at_round_;  ///< W at the start of the round
  Bytes recovery_end_;     ///< highest position that had arrived at the drop
};

}  // namespace sluice::control

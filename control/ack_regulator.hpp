#pragma once

#include <cstdint>
#include <vector>

#include "control/ack_release.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Parameters of the Ack Regulator, of one flow.
struct AckRegulatorParameters {
  Bytes buffer{20'000};  ///< of this flow's queue, > 0. The paper's 20 packets of 1 kB
  Bytes segment{1448};   ///< the largest segment of the flow, > 0
};

/// Checks ranges, and that the buffer holds what one ACK brings during slow start.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const AckRegulatorParameters& parameters);

/// How the Ack Regulator takes the source to behave.
enum class SourcePhase : std::uint8_t {
  slow_start,  ///< every byte acknowledged brings two; provided for until a buffer's worth of ACKs is held
  avoidance,   ///< … brings one; the one segment more per window is not provided for
  recovery,    ///< after a drop: room is kept as for slow start, so that no second one follows
};

/// The Ack Regulator (Chan & Ramjee, MobiCom 2002, as described in INFOCOM 2004) of one flow, in bytes: never rewrites
/// an ACK, only holds it while the buffer could not take what it brings. All positions are those of StreamPosition. No
/// clock inside; thread: its flow's.
///
/// A released ACK of `a` lets the source send up to a + W, W its window, seen here as the most that has been between
/// what arrived and what was acknowledged to it. So arrivals may come up to a + W, and that fits the free buffer iff
/// a ≤ arrived + free − W. The errors of a count of expected packets, up and down, would add up; those of a position
/// do not. In congestion avoidance the segment by which W grows once per window is not provided for: when W
/// has outgrown pipe and buffer, that one segment finds the buffer full, is dropped, and the source halves W once.
///
/// Reading: INFOCOM 2004 names the algorithm's inputs and its deliberate drop, not its steps, and the MobiCom paper is
/// not at hand. That W has outgrown pipe and buffer is taken to show, in congestion avoidance, in a buffer that is full
/// when the segment more comes, and in slow start in a buffer's worth of ACKs being held.
class AckRegulator {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit AckRegulator(const AckRegulatorParameters& parameters);

  /// B has changed: more or fewer flows share the buffer. ≥ 2 segments.
  void set_buffer(Bytes buffer) { parameters_.buffer = buffer; }
  /// The source has been running before: it is past its slow start.
  void source_runs() { phase_ = SourcePhase::avoidance; }
  /// Data up to `end` has come from the server, into the queue or dropped there. A retransmission changes nothing.
  void on_data(Bytes end);
  /// Data up to `end` found the buffer full, after on_data().
  void on_drop(Bytes end);
  /// The queue has changed to `queue` bytes of this flow: data has entered or left.
  [[nodiscard]] AckRelease on_queue(Bytes queue);
  /// An ACK of `ack` has come from the UE. Duplicates wait in line with the others.
  [[nodiscard]] AckRelease on_ack(Bytes ack);
  /// An ACK of `ack` has gone to the server.
  void on_released(Bytes ack);

  [[nodiscard]] SourcePhase phase() const { return phase_; }

  /// Its state, for a trace (control/trace/states.hpp).
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
  Bytes window_;           ///< W, the source's window as it is seen here
  Bytes round_end_;        ///< the round ends when so much is acknowledged to the server
  Bytes window_at_round_;  ///< W when it began
  Bytes recovery_end_;     ///< what had arrived when the drop happened
};

}  // namespace sluice::control

#pragma once

#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "control/window_laws/ack_release.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Parameters of the Ack Regulator, which withholds ACKs of one flow until the radio buffer has free space.
struct AckRegulatorParameters {
  Bytes buffer{20'000};  ///< B: this flow's part of the radio buffer in bytes, > 0; the paper uses 20 packets of 1 kB
  Bytes segment{1448};   ///< size of the flow's largest segment, > 0
};

/// Checks the ranges, and that the buffer has space for the data that one ACK permits in slow start. Returns the broken
/// rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const AckRegulatorParameters& parameters);

/// Phase of the congestion control of the source (the sender of the data), as the Ack Regulator estimates it.
enum class SourcePhase : std::uint8_t {
  /// The source sends two bytes for every acknowledged one, so buffer space is reserved for both. Once the withheld
  /// ACKs acknowledge more bytes than the buffer holds, space is reserved for one only.
  slow_start,
  /// The source sends one byte for every acknowledged one. In addition its window grows by one segment per round trip,
  /// for which no buffer space is reserved.
  avoidance,
  /// The source reacts to a drop. Buffer space is reserved as in slow start, so that no second drop follows.
  recovery,
};

/// Ack Regulator of one flow, in bytes (Chan & Ramjee, MobiCom 2002, as described in INFOCOM 2004). It never rewrites
/// an ACK. It withholds an ACK while the radio buffer has no space for the data that this ACK permits the source to
/// send. Positions in the stream are 64-bit byte counts, see StreamPosition. Reads no clock. Not thread-safe.
///
/// A released ACK of position `a` allows the source to send up to a + W. W is the source's window, estimated as the
/// largest distance so far between arrived and acknowledged data. The data that the ACK allows fits in the buffer if
/// and only if a ≤ arrived + free − W. The controller compares positions, because a count of expected packets would
/// accumulate errors.
///
/// In congestion avoidance W grows by one segment per window, for which no space is reserved. Once W exceeds the
/// capacity of path and buffer, the additional segment finds the buffer full and is dropped. The source then halves W
/// once.
///
/// Interpretation of the paper: INFOCOM 2004 states the algorithm's inputs and its deliberate drop, but not its steps.
/// The MobiCom paper is not available. In congestion avoidance, W counts as larger than path and buffer if the
/// additional segment finds the buffer full. In slow start, W counts as larger if ACKs for more than a whole buffer are
/// withheld.
class AckRegulator {
 public:
  /// Makes a regulator with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit AckRegulator(const AckRegulatorParameters& parameters);

  /// Sets B, this flow's share of the buffer, ≥ 2 segments. The share changes with the number of flows.
  void set_buffer(Bytes buffer) { parameters_.buffer = buffer; }
  /// Skips the slow-start phase, because the source was sending before this controller was created.
  void source_runs() { phase_ = SourcePhase::avoidance; }
  /// Records data from the server up to position `end`, whether it was queued or dropped. A retransmission changes
  /// nothing.
  void on_data(Bytes end);
  /// Records that data up to position `end` found the buffer full. Call it after on_data().
  void on_drop(Bytes end);
  /// Records that `queue` bytes of this flow are in the queue now. Returns which withheld ACKs are to be released.
  [[nodiscard]] AckRelease on_queue(Bytes queue);
  /// Records an ACK of position `ack` from the UE. Returns which withheld ACKs are to be released. Duplicate ACKs are
  /// released in their original order.
  [[nodiscard]] AckRelease on_ack(Bytes ack);
  /// Records that an ACK of position `ack` was sent to the server.
  void on_released(Bytes ack);

  [[nodiscard]] SourcePhase phase() const { return phase_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] AckRelease release();
  void watch_growth();

  AckRegulatorParameters parameters_;
  EmptyQueueRelease rescue_;
  SourcePhase phase_ = SourcePhase::slow_start;
  Bytes arrived_;   ///< highest stream position of data received from the server
  Bytes released_;  ///< highest stream position acknowledged to the server
  Bytes acked_;     ///< highest stream position that the UE has acknowledged
  Bytes queue_;
  Bytes window_;           ///< W: estimated window of the source in bytes
  Bytes round_end_;        ///< stream position whose acknowledgement to the server ends the current round trip
  Bytes window_at_round_;  ///< W when the current round trip began
  /// Highest position that had arrived at the last drop; once it is acknowledged, the recovery ends.
  Bytes recovery_end_;
};

}  // namespace sluice::control

#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that a path has become longer in one step, for example after a change of the route or of the satellite. The
/// bytes in flight do not fill the longer path, so the link is idle for a part of every round trip. This has three
/// signs in order:
///
/// - No ACK arrives for some time (first silence). After it the round trip is longer by that time.
/// - ACKs arrive at the earlier rate until all bytes that were in flight are acknowledged.
/// - No ACK arrives for some time again (second silence). The ACK that ends it is that of a segment sent after the
///   first silence, and shows the longer round trip. That segment has found an empty queue, so its round trip is the
///   base delay of the longer path.
///
/// Other causes of silences have other signs. After an outage a later segment has the earlier round trip. On a link
/// that has become slower, ACKs arrive at a lower rate. On a bursty link silences of this length are usual.
///
/// The UE may delay the ACK of the last segment before a silence by up to 50 ms, so this ACK arrives in the silence.
/// Such an ACK neither ends the silence nor confirms or refutes a step, unless it ends a very long silence. Memory and
/// work per ACK are constant. Reads no clock. Not thread-safe.
class PathStepDetector {
 public:
  /// Values of one ACK.
  struct Sample {
    Instant now;
    Duration round_trip{};  ///< RTT of the newest segment that was sent only once (Karn's algorithm); zero: unknown
    Duration base_delay{};  ///< round trip through an empty queue before a step
    Duration silence{};     ///< time since the previous ACK
    Duration usual{};       ///< longest usual time between two ACKs; a longer time counts as a silence
    Bytes delivered;        ///< bytes newly received by the UE
    double rate = 0;        ///< delivery rate before this ACK, bytes/s
    bool may_be_delayed = false;  ///< true if the UE may have delayed this ACK, because it acknowledges one segment
    bool steady = false;  ///< true if the rate of the link hardly varies, so that a long time without ACKs is unusual
  };
  /// Values of a longer path that was detected.
  struct Step {
    Duration base_delay;  ///< round trip through the empty queue of the longer path
    double rate = 0;      ///< delivery rate before the step, bytes/s
  };
  /// Adds an ACK. If this ACK confirms that the path has become longer, returns the step and restarts detection.
  /// Otherwise returns nothing.
  std::optional<Step> on_ack(const Sample& sample);
  /// True after a first silence (time without ACKs) by which the round trip became longer, until later ACKs confirm or
  /// refute a longer path. Also true in a silence in which all ACKs that have arrived may be delayed by the UE.
  [[nodiscard]] bool is_suspected() const { return has_first_silence() || delayed_ > Duration::zero(); }
  /// Discards a first silence that was observed, because round trips may be long for another reason. The next silence
  /// then counts as a first one, and not as the second one that confirms a longer path.
  void forget() { longer_ = newest_ = delayed_ = Duration::zero(); }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] bool has_first_silence() const { return longer_ > Duration::zero(); }
  [[nodiscard]] bool is_first(const Sample& sample, Duration silence) const;
  [[nodiscard]] bool is_second_gap(const Sample& sample) const;

  Instant since_{};  ///< end of the first silence (time without ACKs)
  Instant until_{};  ///< time of the newest ACK since `since_` that did not end another silence (time without ACKs)
  double rate_ = 0;  ///< delivery rate before the first silence (time without ACKs), bytes/s
  Bytes delivered_;  ///< bytes delivered from `since_` to `until_`
  /// Round trip through an empty queue of the longer path. It is computed at the end of the first silence (time without
  /// ACKs).
  Duration empty_{};
  // Each ACK reads the members from here on.
  /// Sum of the times without ACKs that ended with an ACK which the UE may have delayed. They are part of the present
  /// silence (time without ACKs).
  Duration delayed_{};
  Duration newest_{};  ///< round trip of the previous ACK; zero: unknown
  Duration longer_{};  ///< round trip after the first silence (time without ACKs); zero: no first silence
};

}  // namespace sluice::control

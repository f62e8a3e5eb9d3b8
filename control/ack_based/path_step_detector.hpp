#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that a path has become longer in one step, as after a change of the route or of the satellite. The bytes in
/// flight do not fill the longer path, so the link runs idle in every round trip:
///
/// - No ACK arrives for some time. Then the round trip is longer by that time.
/// - ACKs arrive at the earlier rate until all bytes that were in flight are acknowledged.
/// - No ACK arrives again. The segment whose ACK ends this silence was sent after the first silence, and its round trip
///   is as long as after that. It has found an empty queue, so its round trip is the base delay of the longer path.
///
/// Other causes differ. After an outage a later segment has the earlier round trip. On a link that has become slower
/// ACKs arrive at a lower rate. On a bursty link silences of this length are usual. State and work are constant. Reads
/// no clock; thread: its owner's.
class PathStepDetector {
 public:
  /// Values of one ACK.
  struct Sample {
    Instant now;
    Duration round_trip{};  ///< RTT of the newest segment that was sent once; zero: unknown
    Duration silence{};     ///< time since the ACK before
    Duration usual{};       ///< longest usual time between two ACKs
    Bytes delivered;        ///< bytes newly received by the UE
    double rate = 0;        ///< delivery rate before this ACK, bytes/s
    bool steady = false;    ///< true if the rate of the link hardly varies, so that a silence is unusual
  };
  /// Result of a detection.
  struct Step {
    Duration base_delay;  ///< round trip through the empty queue of the longer path
    double rate = 0;      ///< delivery rate before the step, bytes/s
  };
  /// Adds an ACK. Returns the step if this ACK confirms one; then starts over.
  std::optional<Step> on_ack(const Sample& sample);
  /// True after the first silence, until it is confirmed or refuted.
  [[nodiscard]] bool is_suspected() const { return longer_ > Duration::zero(); }
  /// Discards the suspicion, because round trips may now be long for another reason.
  void forget() { longer_ = newest_ = Duration::zero(); }

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] bool is_first(const Sample& sample) const;
  [[nodiscard]] bool is_second(const Sample& sample) const;

  Duration newest_{};  ///< round trip of the ACK before; zero: unknown
  Duration longer_{};  ///< round trip after the first silence; zero: no suspicion
  Instant since_{};    ///< end of the first silence
  Instant until_{};    ///< newest ACK since then that did not end a silence
  double rate_ = 0;    ///< delivery rate before the first silence, bytes/s
  Bytes delivered_;    ///< bytes delivered from `since_` to `until_`
};

}  // namespace sluice::control

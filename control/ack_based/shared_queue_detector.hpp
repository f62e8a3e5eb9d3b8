#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that data of other UEs waits between the data of this UE in a queue that they share, for example before a
/// slow backhaul. The ACKs then arrive in one burst per round trip, with silences between the bursts. Unlike an outage
/// such a silence must count in the delivery rate, else the rate is that of the whole queue. The signs are:
///
/// - The round trip after the silence is about as long as before. After an outage it is longer by the silence.
/// - The data has waited in a queue for half of the silence or more. On an idle path no queue explains a silence.
/// - Silences recur within two round trips.
///
/// State and work are constant. Reads no clock; thread: its owner's.
class SharedQueueDetector {
 public:
  /// Values of one ACK.
  struct Sample {
    Instant now;
    Duration silence{};  ///< time since the previous ACK
    /// longest time without ACKs that counts in the delivery rate anyway; only a longer one is a sign of a shared queue
    Duration counted{};
    Duration round_trip{};  ///< RTT of the newest segment that was sent only once (Karn's algorithm); zero: unknown
    Duration srtt{};        ///< smoothed round trip before this ACK
    Duration base_delay{};  ///< round trip through an empty queue; zero: unknown
  };
  /// Processes an ACK that follows a time without ACKs, and updates rate_memory().
  void on_ack(const Sample& sample);
  /// Returns the shortest time over which the delivery rate must be averaged. In a shared queue, ACKs arrive in one
  /// burst per round trip. The time is then one round trip (at most 1 s), so that it covers a burst and the silence
  /// after it. While no shared queue is seen, it decays to zero.
  [[nodiscard]] Duration rate_memory() const { return rate_memory_; }

  /// Calls visit(name, value) for each state member, for the decision log (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Duration rate_memory_{};
  /// end of the newest time without ACKs that showed a shared queue: it did not lengthen the round trip
  Instant silence_ended_{};
};

}  // namespace sluice::control

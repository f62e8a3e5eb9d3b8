#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Detects that data of other UEs waits between the data of this UE in a queue that they share, for example before a
/// slow backhaul. The ACKs then arrive in one burst per round trip, with silences between the bursts. Such a silence
/// must count in the delivery rate, which would otherwise be the rate of all UEs together. The silence of an outage
/// must not count. The signs of a shared queue are:
///
/// - The round trip after the silence is about as long as before. After an outage it is longer by the silence.
/// - The data has waited in a queue for half of the silence or more. Without a queue other UEs cannot have caused the
///   silence.
/// - Silences recur within two round trips.
///
/// Memory and work per ACK are constant. Reads no clock. Not thread-safe.
class SharedQueueDetector {
 public:
  /// Values of one ACK.
  struct Sample {
    Instant now;
    Duration silence{};  ///< time since the previous ACK
    /// longest time without ACKs that always counts in the delivery rate; only a longer one can show a shared queue
    Duration counted{};
    Duration round_trip{};  ///< RTT of the newest segment that was sent only once (Karn's algorithm); zero: unknown
    Duration srtt{};        ///< smoothed round trip before this ACK
    Duration base_delay{};  ///< round trip through an empty queue; zero: unknown
  };
  /// Updates rate_memory() for an ACK. Called for each ACK after a long time without ACKs, and for all ACKs while
  /// rate_memory() is above zero.
  void on_ack(const Sample& sample);
  /// Returns the shortest time over which the delivery rate must be averaged. In a shared queue, where ACKs arrive in
  /// one burst per round trip, it is one round trip (at most 1 s). The mean then covers a burst and the silence after
  /// it. While no shared queue is detected, the time decays to zero.
  [[nodiscard]] Duration rate_memory() const { return rate_memory_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Duration rate_memory_{};
  /// end of the newest time without ACKs that showed a shared queue, because it did not lengthen the round trip
  Instant silence_ended_{};
};

}  // namespace sluice::control

#pragma once

#include "control/ack_based/ack_sample.hpp"
#include "control/ack_based/delivery_estimator.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the ACK delay of a UE: the time that its ACKs wait for a scheduled uplink, or behind an upload of the UE.
/// The input is the delay that the UE's TCP timestamps show (TimestampOneWayDelay). Data in the radio queue does not
/// cause this delay, so the delay is subtracted from round trips. Memory and work per ACK are constant. Reads no clock.
/// Not thread-safe.
class AckDelayEstimator {
 public:
  /// Updates newest(), mean() and max() from the ACK delay of `ack_sample`. Returns the sample's round trip without
  /// that delay; zero if the result is unknown. `since` is the time since the previous sample. `delivery` gives the
  /// link's rate, which limits max(): an ACK delay beyond the time in which the link transmits all bytes in flight
  /// contains a stall of the link.
  Duration adjust_rtt(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery);

  /// Returns the newest known ACK delay (time that an ACK waits for the uplink); zero if none was known within the last
  /// second.
  [[nodiscard]] Duration newest() const { return newest_; }
  /// Returns the arrival time of the newest ACK whose delay (wait for the uplink) was known; zero if there was none.
  [[nodiscard]] Instant known_at() const { return newest_at_; }
  /// Returns the exponential mean of the ACK delay (time that an ACK waits for the uplink) over about 32 ACK samples.
  [[nodiscard]] Duration mean() const { return mean_; }
  /// Returns the greatest recent ACK delay (time that an ACK waits for the uplink); zero if none is known. It decays
  /// with a time constant of 0.5 s.
  [[nodiscard]] Duration max() const { return max_ack_delay_; }
  /// True unless all ACKs of the last second lacked a usable TCP timestamp, so that their delay is unknown. At most 100
  /// ms of each gap between two ACKs count as part of this second.
  [[nodiscard]] bool is_known() const;
  /// True if the ACK delay (time that an ACK waits for the uplink) is known and at least 2 ms on average.
  [[nodiscard]] bool is_significant() const;

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Updates max(), the greatest recent ACK delay, from the delay of the newest ACK. `since` is the time since the
  /// previous sample. `delivery` gives the link's rate, which limits max().
  void record_max(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery);

  Duration newest_{};
  Instant newest_at_{};  ///< arrival time of the newest ACK whose delay at the uplink was known
  Duration mean_{};
  Duration max_ack_delay_{};
  /// Sum of the times between ACKs since an ACK delay was last known. A pause between two ACKs counts as at most 100
  /// ms.
  Duration unknown_for_{};
};

}  // namespace sluice::control

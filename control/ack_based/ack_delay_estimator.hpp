#pragma once

#include "control/ack_based/ack_sample.hpp"
#include "control/ack_based/delivery_estimator.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// How late acknowledgements of a UE are at its uplink, by the UE's timestamps: an uplink that is scheduled, or filled
/// by an upload, makes them wait, and what has waited there has not waited in the radio queue. State and work are
/// constant. No clock inside; thread: its owner's.
class AckDelayEstimator {
 public:
  /// Takes what an acknowledgement has waited for the uplink out of its round trip, and returns the rest; zero where
  /// that is not known. It came `since` the one before. A lateness that is longer than what `delivery` says the link
  /// needs for everything that has come and is in flight is not the uplink's alone.
  Duration take_out(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery);

  /// Of the newest acknowledgement of which it is known; zero where none was of late.
  [[nodiscard]] Duration newest() const { return newest_; }
  /// The mean.
  [[nodiscard]] Duration usual() const { return usual_; }
  /// The greatest of late, which decays with half a second; zero where none is known.
  [[nodiscard]] Duration max() const { return max_ack_delay_; }
  /// The UE's timestamps tell it.
  [[nodiscard]] bool is_known() const;
  /// It is known, and the uplink is one that makes acknowledgements wait.
  [[nodiscard]] bool is_notable() const;

  /// Its state, for a trace (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  void record_max(const AckSample& ack_sample, Duration since, const DeliveryEstimator& delivery);

  Duration newest_{};
  Instant newest_at_{};
  Duration usual_{};
  Duration max_ack_delay_{};
  Duration unknown_for_{};  ///< of listening since one was known
};

}  // namespace sluice::control

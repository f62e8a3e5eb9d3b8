#pragma once

#include <functional>

#include "control/ack_based/half_window_extreme.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the delivery rate of one UE's radio link from its ACKs. ACKs show each byte that left the radio queue, but
/// they are delayed, and often several arrive at once. ACKs that arrive within 1 ms form a clump. The uplink can cause
/// clumps too, so they do not prove that the downlink sends in bursts. Memory and work per ACK are constant. Reads no
/// clock. Not thread-safe.
class DeliveryEstimator {
 public:
  /// Makes an estimator without samples. `memory` > 0 is the time constant of the mean rate. A gap between ACKs counts
  /// for about this time at most, because an outage gives no information on the rate after it.
  explicit DeliveryEstimator(Duration memory);

  /// Adds a sample: the UE has received `newly` more bytes. `link_limited` is true if the link, and not the sender,
  /// limited the rate. Only such a sample may lower the mean; an application-limited one can only raise it. `stretch`
  /// is the mean number of bytes per ACK if the sample sums several ACKs; zero if it is one ACK.
  void on_delivered(Instant now, Bytes newly, bool link_limited, Bytes stretch = {});
  /// Records that no data is in flight, so that the time until the next delivery does not describe the link.
  void on_idle() { busy_ = false; }
  /// Sets the time constant of the mean rate, > 0.
  void set_memory(Duration memory) { memory_s_ = to_seconds(memory); }
  /// Raises the mean rate to at least `rate`, which is known from another source.
  void seed(Instant now, Rate rate);
  /// Discards all samples.
  void restart();

  /// True if a mean rate is known, from samples or from seed().
  [[nodiscard]] bool has_sample() const { return mean_ > 0; }
  /// Returns the mean delivery rate, an exponential mean with the time constant `memory`; zero while unknown.
  [[nodiscard]] Rate rate() const { return Rate::bytes_per_second(mean_); }
  /// Returns the largest mean rate of the last five to ten seconds.
  [[nodiscard]] Rate max_rate() const { return max_rate_.known() ? Rate::bytes_per_second(max_rate_.value()) : Rate(); }
  /// Returns the mean number of bytes acknowledged within 1 ms. Each group of ACKs is weighted by its bytes, so this is
  /// the size of the group that a random byte belongs to.
  [[nodiscard]] Bytes ack_aggregation() const { return Bytes(ack_aggregation_); }
  /// True if the current clump (ACKs that arrive within 1 ms) is more than twice as large as the mean clump. The clump
  /// includes the `newly` bytes that an ACK acknowledges at `now`.
  [[nodiscard]] bool is_large_aggregation(Instant now, Bytes newly) const;
  /// Returns the mean number of bytes that one ACK acknowledges. Each ACK is weighted by its bytes.
  [[nodiscard]] Bytes ack_stretch() const { return Bytes(ack_stretch_); }
  /// True if ack_aggregation() or ack_stretch() exceeds `bytes`, both in bytes.
  [[nodiscard]] bool acknowledges_more_than(double bytes) const {
    return ack_aggregation_ > bytes || ack_stretch_ > bytes;
  }
  /// Returns the mean time from one clump (ACKs that arrive within 1 ms) to the next, without times above 80 ms; zero
  /// while unknown.
  [[nodiscard]] Duration gap() const { return from_seconds(gap_); }
  /// Returns the time-weighted mean gap: the length of the gap that a random instant lies in. On a link that alternates
  /// between sending and pausing this is about one pause.
  [[nodiscard]] Duration idle_gap() const { return from_seconds(idle_gap_); }
  /// True if the link is bursty: the time-weighted mean gap between ACKs exceeds 1.3 times the unweighted one. On a
  /// link without pauses both are about equal.
  [[nodiscard]] bool is_bursty() const;

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  /// Adds `bytes` to the current clump (ACKs that arrive within 1 ms) if `same_aggregation` is true. Otherwise begins a
  /// new clump and records the last one.
  void record_aggregation(Instant now, double bytes, bool same_aggregation);
  /// Updates both mean gaps with the time from one clump (ACKs that arrive within 1 ms) to the next.
  void record_gap(Duration gap);
  /// Adds `bytes` bytes to `mean`, the exponential mean of a value that each byte has; these bytes have the value
  /// `value`. Older bytes lose weight over the time constant of the mean rate.
  void update_byte_mean(double& mean, double value, double bytes) const;
  [[nodiscard]] double counted_gap(double gap, double bytes) const;
  void measure(Instant now, double bytes);
  /// Returns the mean delivery rate in bytes/s, without the lower bound that application-limited samples set. Zero
  /// while the weights of the samples sum to less than 0.2 (`weight_`).
  [[nodiscard]] double plain_mean() const;

  double memory_s_;  ///< time constant of the mean rate, s
  Instant last_{};
  Instant aggregation_began_{};   ///< time of the first ACK of the current clump (ACKs that arrive within 1 ms)
  double aggregation_bytes_ = 0;  ///< bytes acknowledged by the current clump (ACKs that arrive within 1 ms)
  double ack_aggregation_ = 0;
  double ack_stretch_ = 0;
  double gap_ = 0;       ///< mean gap in s between clumps (ACKs that arrive within 1 ms)
  double idle_gap_ = 0;  ///< time-weighted mean gap in s between clumps (ACKs that arrive within 1 ms)
  /// Amount by which one delivered byte raises the mean rate, in 1/s. It is computed once per instant, because all
  /// bytes of one instant have the same weight.
  double byte_weight_ = 0;
  double delivered_ = 0;  ///< mean delivery rate in bytes/s, times weight_
  double weight_ = 0;     ///< sum of the weights of the samples in `delivered_`; it approaches 1
  double mean_ = 0;       ///< mean delivery rate in bytes/s, at least `floor_`
  double floor_ = 0;      ///< lower bound of `mean_`, set by application-limited samples; zero: no bound
  HalfWindowExtreme<double, std::greater<>> max_rate_;
  /// True if data was in flight since the last delivery, so the time until the next ACK describes the link.
  bool busy_ = false;
  /// True if the current clump (ACKs that arrive within 1 ms) is the first after a pause, so that its rate is unknown.
  bool first_aggregation_ = false;
};

}  // namespace sluice::control

// Estimates the delivery rate of a UE's radio link from its ACKs. DelayBasedController calls on_delivered() for each
// ACK sample. Invariant: an application-limited sample never lowers the mean, and constant state suffices.

#include "control/ack_based/delivery_estimator.hpp"

#include <algorithm>

#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

/// Longest time after the first ACK of a clump in which further ACKs belong to the clump (group of ACKs that arrive
/// together). ACKs of one uplink TTI arrive together, but a poll thread may read them in several bursts.
constexpr Duration aggregation_span = std::chrono::milliseconds(1);

/// Smallest sum of the samples' weights in the exponential mean with which a mean rate exists; with many samples the
/// sum approaches 1. The first ACKs alone may arrive together and show any rate.
constexpr double min_weight = 0.2;

/// Multiple of the delivered bytes' transmission time at the mean rate. The gap before a delivery counts in the mean
/// rate up to this time, or up to the mean's time constant if that is longer. With a factor of 1, a mean rate that is
/// too high could not fall on a slow link.
constexpr double longest_gap = 2;
/// Largest time between two ACKs that enters the mean gaps. A longer time without ACKs is a stall of the link.
constexpr Duration longest_idle_gap = std::chrono::milliseconds(80);
/// Time constant in s of the time-weighted mean gap between ACKs, in which each gap has its length as weight.
constexpr double idle_gap_memory = 2;
/// Number of gaps between clumps (ACKs within 1 ms) over which the unweighted mean gap is averaged.
constexpr double gap_aggregations = 64;
/// Ratio of the time-weighted mean gap between ACKs to the unweighted one above which the link counts as bursty.
constexpr double uneven = 1.3;
/// Ratio of the bytes of a clump (ACKs within 1 ms) to the mean clump above which it counts as large.
constexpr double large_aggregation = 2;
/// Half of the longest time for which the highest mean rate counts: it counts for five to ten seconds.
constexpr Duration max_rate_half = std::chrono::seconds(5);

}  // namespace

DeliveryEstimator::DeliveryEstimator(Duration memory) : memory_s_(to_seconds(memory)) {}

void DeliveryEstimator::restart() {
  busy_ = false;
  delivered_ = weight_ = mean_ = floor_ = byte_weight_ = 0;
  aggregation_bytes_ = ack_aggregation_ = ack_stretch_ = 0;
  gap_ = idle_gap_ = 0;
  max_rate_.clear();
}

void DeliveryEstimator::seed(Instant now, Rate rate) {
  mean_ = greater(mean_, rate.bytes_per_second());
  if (floor_ > 0) floor_ = mean_;
  max_rate_.add(now, mean_, max_rate_half);
}

void DeliveryEstimator::on_delivered(Instant now, Bytes newly, bool link_limited, Bytes stretch) {
  const auto bytes = static_cast<double>(newly.count());
  // The first clump after a pause is not counted, because the time in which the link carried it is unknown.
  const bool same_aggregation = busy_ && now - aggregation_began_ < aggregation_span;
  first_aggregation_ = !busy_ || (first_aggregation_ && same_aggregation);
  record_aggregation(now, bytes, same_aggregation);
  update_byte_mean(ack_stretch_, stretch > Bytes{} ? static_cast<double>(stretch.count()) : bytes, bytes);
  busy_ = true;
  if (first_aggregation_) [[unlikely]] {
    last_ = now;
    return;
  }
  if (link_limited) {
    floor_ = 0;
  } else if (floor_ <= 0) {
    floor_ = mean_;
  }
  measure(now, bytes);
  if (!link_limited) {
    // The floor follows the plain mean and not mean_. A clump raises mean_ for a moment, and the increases of several
    // clumps would accumulate.
    floor_ = greater(floor_, plain_mean());
    mean_ = greater(mean_, floor_);
  }
  if (mean_ > 0) max_rate_.add(now, mean_, max_rate_half);
}

void DeliveryEstimator::record_aggregation(Instant now, double bytes, bool same_aggregation) {
  if (same_aggregation) {
    aggregation_bytes_ += bytes;
    return;
  }
  if (busy_) record_gap(now - aggregation_began_);
  if (aggregation_bytes_ > 0) update_byte_mean(ack_aggregation_, aggregation_bytes_, aggregation_bytes_);
  aggregation_began_ = now;
  aggregation_bytes_ = bytes;
}

bool DeliveryEstimator::is_large_aggregation(Instant now, Bytes newly) const {
  const double earlier = now - aggregation_began_ < aggregation_span ? aggregation_bytes_ : 0;
  return earlier + static_cast<double>(newly.count()) > large_aggregation * ack_aggregation_;
}

void DeliveryEstimator::record_gap(Duration gap) {
  if (gap > longest_idle_gap) return;
  const double seconds = in_seconds(gap);
  idle_gap_ += (seconds - idle_gap_) * (seconds / idle_gap_memory);
  gap_ += (seconds - gap_) / gap_aggregations;
}

bool DeliveryEstimator::is_bursty() const {
  return idle_gap_ > uneven * gap_;
}

void DeliveryEstimator::update_byte_mean(double& mean, double value, double bytes) const {
  if (value == mean) return;  // common, and saves a division, because most ACKs acknowledge the same number of bytes
  mean += (value - mean) * bytes / (bytes + mean_ * memory_s_);
}

/// Returns the part of `gap`, the seconds before a delivery of `bytes`, that counts in the mean rate. The rest may be
/// an outage. The limit is the time constant `memory_s_`. On a slow link it is twice the transmission time of `bytes`
/// at the mean rate, if that is longer.
double DeliveryEstimator::counted_gap(double gap, double bytes) const {
  if (gap <= memory_s_ || mean_ <= 0) [[likely]]
    return lesser(gap, memory_s_);
  return lesser(gap, greater(memory_s_, longest_gap * bytes / mean_));
}

/// Adds `bytes` delivered bytes to the exponential mean rates, whose time constant is `memory_s_`. The caller,
/// on_delivered(), then applies the lower bound of mean_ that application-limited samples set.
void DeliveryEstimator::measure(Instant now, double bytes) {
  double decay = 1;
  if (now > last_) {
    // The decay is 1 / (1 + p + p²/2), where p is the step as a share of the memory. Up to 1 that is close to e^-p.
    const double step = counted_gap(in_seconds(now - last_), bytes);
    const double half = memory_s_ + step / 2;
    const double scale = 1 / (memory_s_ * memory_s_ + step * half);
    decay = memory_s_ * memory_s_ * scale;
    byte_weight_ = half * scale;  // (1 - decay) / step
    last_ = now;
  }
  const double added = byte_weight_ * bytes;
  delivered_ = decay * delivered_ + added;
  weight_ = decay * weight_ + (1 - decay);
  if (weight_ < min_weight) [[unlikely]]
    return;
  const double plain = plain_mean();
  mean_ = mean_ > 0 ? greater(plain, decay * mean_ + added) : plain;
}

double DeliveryEstimator::plain_mean() const {
  return weight_ < min_weight ? 0 : delivered_ / weight_;
}

}  // namespace sluice::control

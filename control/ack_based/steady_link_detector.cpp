// Detects a link whose rate hardly varies. DelayBasedController calls on_rate() and on_round_trip() for each ACK, and
// ignore_until() in slow start, drains and refills. Invariant: one rate that deviates ends steadiness at once, but only
// seconds without such a rate bring it back.
#include "control/ack_based/steady_link_detector.hpp"

#include <algorithm>
#include <cmath>

#include "control/ack_based/seconds.hpp"
#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

/// Largest deviation of the rate from its mean, as a share of the mean, at which a link counts as completely steady.
constexpr double steady = 0.04;
/// Deviation of the rate from its mean, as a share of the mean, from which on a link does not count as steady at all.
/// The recorded links of Verizon and AT&T deviate by this or more in 99 % of the recorded time.
constexpr double varying = 0.1;
/// Time constant in s of the mean rate with which rates are compared.
constexpr double mean_memory = 0.5;
/// Time constant in s with which the greatest deviation of the rate decays.
constexpr double variation_memory = 2;
/// Time constant in s with which the shortest round trip grows towards later ones.
constexpr double round_trip_memory = 0.2;
/// Longest time for which one sample of the rate counts. The samples are means with a time constant of 80 ms, so a
/// sample does not describe a longer time.
constexpr Duration longest_sample = std::chrono::milliseconds(80);

}  // namespace

void SteadyLinkDetector::on_rate(Instant now, Duration observed, double rate, bool is_end_to_end) {
  if (now <= ignored_until_) return;
  if (mean_rate_ <= 0) {
    mean_rate_ = rate;
    return;
  }
  const double passed = in_seconds(lesser(observed, longest_sample));
  // The slow start of a server raises the rate to many times its mean. That shows nothing about the link.
  const double most = is_end_to_end && rate > mean_rate_ ? initial_variation : 1;
  const double deviation = lesser(std::abs(rate - mean_rate_) / mean_rate_, most);
  mean_rate_ += (rate - mean_rate_) * (passed * (1 / mean_memory));
  variation_ = greater(variation_ * (1 - passed * (1 / variation_memory)), deviation);
}

void SteadyLinkDetector::on_round_trip(Duration observed, double round_trip) {
  const double part = lesser(in_seconds(observed) * (1 / round_trip_memory), 1.0);
  const bool shorter = min_round_trip_ <= 0 || round_trip < min_round_trip_;
  min_round_trip_ = shorter ? round_trip : min_round_trip_ + (round_trip - min_round_trip_) * part;
}

double SteadyLinkDetector::steadiness() const {
  return lesser(greater((varying - variation_) * (1 / (varying - steady)), 0.0), 1.0);
}

}  // namespace sluice::control

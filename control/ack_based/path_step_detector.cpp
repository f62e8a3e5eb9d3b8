// Detects a step to a longer path by two silences (times without ACKs). DelayBasedController calls on_ack() for each
// ACK, and forget() where a silence has another cause. Invariant: a suspicion ends with the first segment that is sent
// after it and acknowledged: it confirms, refutes or replaces it.
#include "control/ack_based/path_step_detector.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/units/by_value.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;

/// Shortest time without ACKs that counts as a silence. It is also the smallest lengthening of the path that is
/// detected. A smaller one does little harm, because the target queue covers most of it.
constexpr Duration shortest = milliseconds(5);
/// Divisor of an expected time. A measured time agrees with the expected one if they differ by at most the quotient
/// plus the longest usual time between two ACKs.
constexpr std::int64_t tolerance = 8;
/// Resolution of measured round trips. A segment's computed sending time may be too early by this amount.
constexpr Duration clock_tick = milliseconds(1);
/// A longer path shows as two silences (times without ACKs), because the link is idle for a part of every round trip.
/// Between them, ACKs must arrive at no less than this share of the rate before the first one.
constexpr double min_rate_share = 0.6;
/// Longest silence (time without ACKs) whose last ACK is ignored because the UE may have delayed it. If the window
/// allows one segment per round trip, the UE delays every ACK, and some of them must be used.
constexpr Duration longest_with_delayed_ack = milliseconds(300);

}  // namespace

/// True if this ACK ends the first silence of a step to a longer path: its round trip is longer than the previous one
/// by about `silence`, the time without ACKs.
bool PathStepDetector::is_first(const Sample& sample, Duration silence) const {
  if (newest_ <= Duration::zero() || !(sample.steady || has_first_silence())) return false;
  const Duration longer = sample.round_trip - newest_;
  return std::chrono::abs(longer - silence) <= silence / tolerance + sample.usual;
}

/// True if this ACK ends the second silence (time without ACKs) of a step to a longer path. Since the first silence,
/// ACKs must have arrived at about the earlier rate. The round trip must be at most that after the first silence, and
/// at least that of an empty queue on the longer path.
bool PathStepDetector::is_second_gap(const Sample& sample) const {
  const Duration error = longer_ / tolerance + sample.usual;
  if (sample.round_trip < empty_ - error || sample.round_trip > longer_ + error) return false;
  if (sample.now - until_ < greater(shortest, sample.usual)) return false;
  const double lasted = to_seconds(until_ - since_);
  return lasted > 0 && static_cast<double>(delivered_.count()) >= min_rate_share * rate_ * lasted;
}

std::optional<PathStepDetector::Step> PathStepDetector::on_ack(const Sample& sample) {
  const Duration usual = greater(shortest, sample.usual);
  const bool may_count_as_delayed = sample.may_be_delayed && (sample.steady || has_first_silence());
  if (sample.silence >= usual && may_count_as_delayed && delayed_ + sample.silence <= longest_with_delayed_ack) {
    delayed_ += sample.silence;
    return std::nullopt;
  }
  const Duration silence = sample.silence + std::exchange(delayed_, Duration::zero());
  const bool silent = silence >= usual;
  if (!silent && sample.now - silence == until_) {
    delivered_ += sample.delivered;
    until_ = sample.now;
  }
  if (sample.round_trip <= Duration::zero()) return std::nullopt;
  const bool is_later = has_first_silence() && sample.now - sample.round_trip + clock_tick >= since_;
  if (is_later && is_second_gap(sample)) {
    const Step step{lesser(sample.round_trip, longer_), rate_};
    forget();
    return step;
  }
  if (is_later) longer_ = Duration::zero();
  if (silent && is_first(sample, silence)) {
    if (!has_first_silence()) rate_ = sample.rate;
    longer_ = sample.round_trip;
    empty_ = lesser(sample.base_delay + silence, longer_);
    since_ = until_ = sample.now;
    delivered_ = Bytes{};
  }
  newest_ = sample.round_trip;
  return std::nullopt;
}

}  // namespace sluice::control

// Detects a queue that this UE shares with other UEs, by silences of the ACKs that do not lengthen the round trip.
// DelayBasedController calls on_ack() for each ACK that follows a long silence, and for each ACK while rate_memory() is
// above zero. Invariant: one silence alone changes nothing, because it may be an outage.
#include "control/ack_based/shared_queue_detector.hpp"

#include <algorithm>
#include <chrono>

namespace sluice::control {
namespace {

/// Number of round trips within which a second silence (time without ACKs) must follow the first one to show a shared
/// queue. A single silence may be an outage.
constexpr std::int64_t recurs_within = 2;
/// Longest averaging time of the delivery rate. Longer round trips are rare, and a longer mean would follow a change of
/// the link too late.
constexpr Duration longest_memory = std::chrono::seconds(1);
/// Time constant with which the averaging time of the delivery rate decays. It does not decay at an ACK after a silence
/// (time without ACKs) that recurs and so shows a shared queue.
constexpr Duration decay_time = std::chrono::seconds(2);
/// Largest part of the time between two ACKs that counts in the decay of the delivery rate's averaging time. The rest
/// may be an outage.
constexpr Duration longest_observed = std::chrono::milliseconds(100);
/// Averaging time of the delivery rate (`rate_memory_`) below which it is set to zero, so that the decay ends.
constexpr Duration shortest_memory = std::chrono::milliseconds(10);

}  // namespace

void SharedQueueDetector::on_ack(const Sample& sample) {
  const Duration half = sample.silence / 2;
  const bool is_queued = sample.silence > sample.counted && sample.round_trip > Duration::zero() &&
                         sample.base_delay > Duration::zero() && sample.round_trip - sample.srtt < half / 2 &&
                         sample.round_trip - sample.base_delay >= half;
  if (is_queued) {
    const bool recurs =
        silence_ended_ != Instant{} && sample.now - silence_ended_ < recurs_within * sample.srtt + sample.silence;
    silence_ended_ = sample.now;
    if (recurs) {
      rate_memory_ = std::max(rate_memory_, std::min(sample.srtt, longest_memory));
      return;
    }
  }
  const double part = to_seconds(std::min(sample.silence, longest_observed)) / to_seconds(decay_time);
  rate_memory_ -= Duration(static_cast<Duration::rep>(static_cast<double>(rate_memory_.count()) * part));
  if (rate_memory_ < shortest_memory) rate_memory_ = Duration::zero();
}

}  // namespace sluice::control

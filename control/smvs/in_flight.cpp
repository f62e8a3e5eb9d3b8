// Bytes in flight from the proxy to the Node-B's queue of one UE, for the report-based controller. Bearers call
// on_sent() for every packet sent and on_report() for every report. Invariant: the estimate never exceeds the bytes
// injected within the lifetime, so losses do not accumulate.

#include "control/smvs/in_flight.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

/// Time constant in seconds with which the estimated offset between the counters of proxy and Node-B adapts. It is long
/// compared with jitter, but short enough to follow the growth of the offset at 1 % packet loss.
constexpr double drift_s = 0.1;

/// Returns the default time after which bytes that have not arrived count as lost: two round trips and 20 ms.
Duration usual_lifetime(Duration round_trip) {
  return 2 * round_trip + std::chrono::milliseconds(20);
}

}  // namespace

InFlight::InFlight(Duration round_trip, Duration lifetime)
    : round_trip_(std::max(round_trip, Duration::zero())),
      lifetime_(std::max(lifetime > Duration::zero() ? lifetime : usual_lifetime(round_trip_), round_trip_)),
      slice_(slice_of(lifetime_)) {}

/// Returns the default lifetime (two round trips and 20 ms) plus two slices (short intervals) of the history of sent
/// bytes. Bytes sent longer ago no longer count as in flight. `round_trip` is that between proxy and Node-B.
Duration InFlight::horizon(Duration round_trip) {
  const Duration lifetime = usual_lifetime(std::max(round_trip, Duration::zero()));
  return lifetime + 2 * slice_of(lifetime);
}

void InFlight::begin_at(std::uint64_t total) {
  total_ = total;
  ring_[newest_].total = total;
}

bool InFlight::is_past(Instant now) const {
  const Duration::rep number = (now - lifetime_).time_since_epoch() / slice_;
  return !synchronised_ && ring_[newest_].number + 1 < number;
}

void InFlight::on_sent(Instant now, Bytes amount) {
  if (amount <= Bytes(0)) return;
  total_ += static_cast<std::uint64_t>(amount.count());
  const Duration::rep number = now.time_since_epoch() / slice_;
  if (number > ring_[newest_].number) {
    newest_ = (newest_ + 1) % slices;
    ring_[newest_].number = number;
  }
  ring_[newest_].total = total_;
}

/// Finds in the history of sent bytes the newest slice (short interval of time) whose number is at most `number`.
/// Returns its position, counted from the newest slice, which has position 0. If there is no such slice, returns the
/// position of the oldest one. A binary search touches one cache line per step. Two common cases need no search:
/// nothing was sent since that slice, or every slice contains bytes.
std::size_t InFlight::age_at(Duration::rep number) const {
  if (back(0).number <= number) return 0;
  const Duration::rep behind = back(0).number - number;
  std::size_t end = static_cast<std::size_t>(std::min<Duration::rep>(behind, slices - 1));
  if (back(end - 1).number > number) return end;
  std::size_t age = 1;
  --end;
  while (age < end) {
    const std::size_t middle = (age + end) / 2;
    if (back(middle).number > number) {
      age = middle + 1;
    } else {
      end = middle;
    }
  }
  return age;
}

/// Returns the bytes sent after the time `when`, which is at most `lifetime_` ago. Older bytes that have not arrived
/// count as lost. Within a slice of the history, bytes count as sent at a constant rate.
std::uint64_t InFlight::since(Instant when) const {
  if (when < Instant{}) return total_;  // before the start of the time line
  const Duration::rep number = when.time_since_epoch() / slice_;
  const std::size_t age = age_at(number);
  const Slice& slice = back(age);
  if (age == slices - 1 || slice.number < number) return total_ - slice.total;
  const std::uint64_t before = back(age + 1).total;
  const double past = to_seconds(when.time_since_epoch() % slice_) / to_seconds(slice_);
  return total_ - before - static_cast<std::uint64_t>(past * static_cast<double>(slice.total - before));
}

Bytes InFlight::on_report(Instant now, std::uint64_t arrived) {
  const auto expected = static_cast<double>(since(now - round_trip_));
  if (!synchronised_ || arrived < arrived_) {
    synchronised_ = true;
    origin_ = total_ - arrived;
    offset_ = -expected;
  } else {
    const double difference = static_cast<double>(static_cast<std::int64_t>(total_ - arrived - origin_)) - offset_;
    const double weight = -std::expm1(-std::max(0.0, to_seconds(now - reported_)) / drift_s);
    offset_ += weight * (difference - expected);
  }
  arrived_ = arrived;
  reported_ = now;
  const auto most = static_cast<double>(since(now - lifetime_));
  const double difference = static_cast<double>(static_cast<std::int64_t>(total_ - arrived - origin_)) - offset_;
  const double in_flight = std::clamp(difference, 0.0, most);
  offset_ += difference - in_flight;  // bytes beyond the bounds are lost for good, or came from elsewhere
  return Bytes(std::llround(in_flight));
}

}  // namespace sluice::control

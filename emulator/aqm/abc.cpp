// Implements the router of ABC (Goyal et al., NSDI 2020): AbcControl decides which packets keep their accelerate mark.
// AbcQueue uses it before a wired line, AbcQdisc (`cell/radio_qdisc`) before a radio link, which reports its capacity
// by offer(). Invariant: the share of accelerating packets is min(tr / (2·cr), 1), spaced by tokens without randomness.

#include "emulator/aqm/abc.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/aqm/ecn.hpp"

namespace sluice::emulator {
namespace {

/// Largest number of saved tokens. A token is a permission to let one packet accelerate its sender. The limit is not
/// reached at present, because each packet adds at most one token and uses one if there is more than one.
constexpr double max_tokens = 10;

const AbcParameters& checked(const AbcParameters& p) {
  constexpr Duration zero = Duration::zero();
  if (!(p.eta > 0 && p.eta <= 1) || p.delta <= zero || p.delay_threshold < zero || p.window <= zero) {
    throw std::invalid_argument(
        "ABC: eta must be above 0 and at most 1, delta and window above 0, the threshold not below");
  }
  return p;
}

}  // namespace

void RecentBytes::add(Bytes bytes, Instant now) {
  sum_ += bytes;
  parts_.push_back({now, bytes});
}

double RecentBytes::per_second(Instant now) {
  for (; !parts_.empty() && parts_.front().at + window_ <= now; parts_.pop_front()) sum_ -= parts_.front().bytes;
  return static_cast<double>(sum_.count()) / to_seconds(window_);
}

AbcControl::AbcControl(const AbcParameters& parameters, std::optional<Rate> capacity)
    : parameters_(checked(parameters)), capacity_(capacity), offered_(parameters.window), sent_(parameters.window) {}

/// Adds the bytes that the link could carry between `since` and `now` to `offered_`, from which the link's rate µ is
/// measured. Only the part of this time inside the averaging window counts.
void AbcControl::offer(Bytes bytes, Instant since, Instant now) {
  const Duration time = now - since;
  const bool longer = time > parameters_.window;
  const double share = longer ? to_seconds(parameters_.window) / to_seconds(time) : 1;
  offered_.add(Bytes(static_cast<std::int64_t>(static_cast<double>(bytes.count()) * share)), now);
}

/// Returns ABC's target rate in bytes per second: η·µ − µ/δ·max(x − dt, 0). µ is the rate of the link, x the queueing
/// delay `waited`, and dt the delay threshold.
double AbcControl::target_rate(Duration waited, Instant now) {
  const double link = capacity_ ? capacity_->bytes_per_second() : offered_.per_second(now);
  const Duration excess = std::max(waited - parameters_.delay_threshold, Duration::zero());
  return std::max(0.0, link * (parameters_.eta - to_seconds(excess) / to_seconds(parameters_.delta)));
}

bool AbcControl::brakes(packet::Packet& frame, Bytes size, Duration waited, Instant now) {
  constexpr std::uint8_t accelerate = 1;
  sent_.add(size, now);
  const double share = std::min(target_rate(waited, now) / (2 * sent_.per_second(now)), 1.0);
  tokens_ = std::min(tokens_ + share, max_tokens);
  if (ecn_of(frame) != accelerate) return false;
  if (tokens_ <= 1) return mark_congestion(frame);
  tokens_ -= 1;
  return false;
}

void AbcQueue::enqueue(packet::Packet packet, Instant now) {
  if (!fits(packet, limit_)) {
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  on_enqueued(packet);
  queue_.push({std::move(packet), now});
}

packet::Packet AbcQueue::dequeue(Instant now) {
  if (queue_.empty()) return {};
  Queued next = queue_.pop();
  if (control_.brakes(next.packet, size_of(next), now - next.since, now)) record_mark();
  return departs(std::move(next), now);
}

}  // namespace sluice::emulator

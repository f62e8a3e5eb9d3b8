#include "proxy/flows/demand.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

constexpr std::int64_t fall = 8;

}  // namespace

/// More than in the round trip before, at most as much as then: slow start no more than doubles.
Bytes Demand::growth(Bytes in_round_trip) const {
  return std::clamp(in_round_trip - last_, Bytes{}, last_);
}

void Demand::follow(tcp::SeqNum delivered, Duration round_trip, Instant now) {
  const Duration period = std::max(round_trip, shortest);
  const Duration passed = now - since_;
  if (passed < period) return;
  const auto count = static_cast<double>(static_cast<std::uint32_t>(delivered - mark_));
  const Bytes in_round_trip(count * to_seconds(period) / to_seconds(passed));
  const Bytes needed = in_round_trip * 2 + growth(in_round_trip) * 2;
  bytes_ = std::max({least, needed, bytes_ - bytes_ / fall});
  last_ = in_round_trip;
  mark_ = delivered;
  since_ = now;
}

}  // namespace sluice::proxy

#include "proxy/flows/demand.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Bursts of acknowledgements are averaged over so long at least.
constexpr Duration shortest = std::chrono::milliseconds(10);
constexpr std::int64_t fall = 8;

}  // namespace

void Demand::follow(tcp::SeqNum delivered, Duration round_trip, Instant now) {
  const Duration period = std::max(round_trip, shortest);
  const Duration passed = now - since_;
  if (passed < period) return;
  const auto count = static_cast<double>(static_cast<std::uint32_t>(delivered - mark_));
  const Bytes needed(2 * count * to_seconds(period) / to_seconds(passed));
  bytes_ = std::max({first, needed, bytes_ - bytes_ / fall});
  mark_ = delivered;
  since_ = now;
}

}  // namespace sluice::proxy

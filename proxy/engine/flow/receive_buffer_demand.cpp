#include "proxy/engine/flow/receive_buffer_demand.hpp"

#include "dataplane/units/by_value.hpp"

namespace sluice::proxy {
namespace {

/// Divisor that limits the decrease of the demand (bytes to hold and advertise): per round trip, the demand decreases
/// by at most demand / fall.
constexpr std::int64_t fall = 8;

}  // namespace

/// Returns by how many bytes the data delivered in the last round trip, `in_round_trip`, exceeds that of the round trip
/// before. The result is at most the data of the round trip before, because slow start at most doubles the data.
Bytes ReceiveBufferDemand::growth(Bytes in_round_trip) const {
  return lesser(greater(in_round_trip - last_, Bytes{}), last_);
}

void ReceiveBufferDemand::follow(tcp::SeqNum delivered, Duration round_trip, Instant now) {
  const Duration period = greater(round_trip, shortest);
  const Duration passed = now - since_;
  if (passed < period) return;
  const auto count = static_cast<double>(static_cast<std::uint32_t>(delivered - mark_));
  const Bytes in_round_trip(count * static_cast<double>(period.count()) / static_cast<double>(passed.count()));
  const Bytes needed = in_round_trip * 2 + growth(in_round_trip) * 2;
  bytes_ = greater(greater(least, needed), bytes_ - bytes_ / fall);
  last_ = in_round_trip;
  mark_ = delivered;
  since_ = now;
}

}  // namespace sluice::proxy

#pragma once

#include <cstdint>

#include "dataplane/tcp/delivery_rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// What loss recovery is doing; in this order as things get worse.
enum class Repair : std::uint8_t { none, fast, timeout };

/// What a model of the path begins with.
struct ModelStart {
  Instant now{};
  Duration srtt{};         ///< of the handshake; zero while unknown
  std::uint32_t cwnd = 0;  ///< the initial window, bytes
  std::uint32_t draw = 0;  ///< any number: what a model draws at random follows from it
};

/// What one acknowledgement told a model.
struct ModelAck {
  Instant now{};
  RateSample sample;
  std::uint32_t delivered = 0;  ///< DeliveryRate::delivered() after it
  std::uint32_t in_flight = 0;  ///< pipe after it
  std::uint32_t mss = 0;
  Duration srtt{};  ///< zero while unknown
  Repair repair = Repair::none;
  bool uses_sack = true;       ///< more than one loss is seen in a round trip
  bool window_limited = true;  ///< the window held the sender back, or half of it was in flight at least
};

}  // namespace sluice::tcp

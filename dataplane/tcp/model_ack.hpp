#pragma once

#include <cstdint>

#include "dataplane/tcp/delivery_rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Kind of loss recovery in progress, in order of severity.
enum class RecoveryKind : std::uint8_t { none, fast, timeout };

/// Values with which the model of a path (BBR, Copa) starts.
struct ModelStart {
  Instant now{};
  Duration srtt{};         ///< round-trip time of the handshake; zero while it is unknown
  std::uint32_t cwnd = 0;  ///< initial window, bytes
  std::uint32_t draw = 0;  ///< arbitrary number from which the model's random numbers are computed (their seed)
};

/// Values that the model of a path (BBR, Copa) gets for each acknowledgement.
struct ModelAck {
  Instant now{};
  RateSample sample;
  std::uint32_t delivered = 0;  ///< total of delivered bytes (DeliveryRate::delivered()) after this ACK
  std::uint32_t in_flight = 0;  ///< bytes in flight (pipe) after this ACK
  std::uint32_t mss = 0;
  Duration srtt{};  ///< smoothed round-trip time; zero while it is unknown
  RecoveryKind recovery = RecoveryKind::none;
  bool uses_sack = true;       ///< true if SACK is used, so several losses per round trip can be detected
  bool window_limited = true;  ///< true if cwnd limited the sender, or at least half of cwnd was in flight
};

}  // namespace sluice::tcp

#pragma once

#include <cstdint>

#include "control/smvs/receive_window_loop.hpp"
#include "control/smvs/smvs.hpp"

namespace sluice::control {

/// Selects the controller of the window that is advertised to the server.
enum class SecondLoopLaw : std::uint8_t {
  balance,      ///< controller ReceiveWindowLoop: the whole path from the server to the air is one queue
  sliding_mode  ///< controller Smvs, applied to the relay's buffer of one connection
};

/// Parameters of the second loop with either controller. Members of the base class apply to both controllers. `sliding`
/// contains further parameters of the sliding mode; its q0, frame size, smallest q0 and first allowance are taken from
/// the base class.
struct SecondLoopParameters : ReceiveWindowParameters {
  SecondLoopLaw law = SecondLoopLaw::balance;
  SmvsParameters sliding;
};

/// Returns the parameters for SMVS "following the same way" as in the paper (TMC 2011, section 4.2, last paragraph):
/// eqs. 17 to 36 for the relay's buffer. The proxy's sending window replaces b(k), and the server's round trip replaces
/// 2τp. Bytes in flight to that queue are those advertised and not arrived, because an edge is never retracted.
[[nodiscard]] SmvsParameters sliding_mode(const SecondLoopParameters& parameters);

/// Input of the sliding-mode controller of the second loop at the end of a step. All amounts are payload of one
/// connection.
struct SecondLoopObservation {
  Instant now;
  Bytes buffered;              ///< bytes received and not yet sent towards the radio
  Bytes advertised;            ///< bytes advertised to the server and not received: right edge − rcv_nxt
  std::uint64_t received = 0;  ///< bytes received from the server so far; a decrease restarts the measurement
  Duration server_rtt{};       ///< RTT to the server; zero while unknown
};

/// Converts the second loop's input to Smvs's input, with the relay's buffer as queue.
[[nodiscard]] SmvsObservation as_queue(const SecondLoopObservation& seen);

}  // namespace sluice::control

#pragma once

#include <cstdint>

#include "control/smvs/receive_window_loop.hpp"
#include "control/smvs/smvs.hpp"

namespace sluice::control {

/// Selects the controller of the window that is advertised to the server.
enum class SecondLoopLaw : std::uint8_t {
  balance,      ///< ReceiveWindowLoop: it controls the whole path from the server to the radio as one queue
  sliding_mode  ///< Smvs: it controls the proxy's buffer of one connection
};

/// Parameters of the receive window's controller. Those of the base class apply to both controllers. Those in `sliding`
/// apply to the sliding-mode controller; its q0, frame size, smallest q0 and first allowance are replaced by values of
/// the base class.
struct SecondLoopParameters : ReceiveWindowParameters {
  SecondLoopLaw law = SecondLoopLaw::balance;
  SmvsParameters sliding;
};

/// Returns the parameters of the sliding-mode controller for the proxy's buffer (TMC 2011, section 4.2, last
/// paragraph). The proxy's sending window replaces b(k), and the server's round trip replaces 2τp. The bytes in flight
/// to the buffer are those advertised and not arrived, because an edge is never retracted.
[[nodiscard]] SmvsParameters sliding_mode(const SecondLoopParameters& parameters);

/// Input of the sliding-mode controller of the receive window at the end of a step. All amounts are payload of one
/// connection.
struct SecondLoopObservation {
  Instant now;
  Bytes buffered;              ///< bytes received and not yet sent towards the radio
  Bytes advertised;            ///< bytes advertised to the server and not received: right edge − rcv_nxt
  std::uint64_t received = 0;  ///< bytes received from the server so far; a decrease restarts the measurement
  Duration server_rtt{};       ///< RTT to the server; zero while unknown
};

/// Converts the input for the receive window to the input of Smvs, with the proxy's buffer as the queue.
[[nodiscard]] SmvsObservation as_queue(const SecondLoopObservation& seen);

}  // namespace sluice::control

#pragma once

#include <cstdint>

#include "control/smvs/receive_window_loop.hpp"
#include "control/smvs/smvs.hpp"

namespace sluice::control {

/// Controller of the receive window that the proxy advertises to the server.
enum class SecondLoopController : std::uint8_t {
  balance,      ///< ReceiveWindowLoop controls the whole path from the server to the radio as one queue
  sliding_mode  ///< Smvs (sliding-mode controller) controls the proxy's buffer of one connection
};

/// Parameters of the controller of the window that the proxy advertises to the server. The members of the base class
/// apply to both kinds of controller. `sliding` applies only to the sliding-mode controller. In it, target q0, frame
/// size, smallest target and first allowance are replaced by the values of the base class.
struct SecondLoopParameters : ReceiveWindowParameters {
  SecondLoopController law = SecondLoopController::balance;
  SmvsParameters sliding;
};

/// Returns the parameters with which SMVS, the sliding-mode controller, controls the proxy's buffer instead of the
/// radio queue (Ren & Lin, TMC 2011, section 4.2). What the proxy sends towards the radio replaces the service b(k).
/// The round trip to the server replaces 2τp, which is the round trip to the Node-B. The bytes in flight are measured
/// as those advertised and not received, because an advertised right edge is never retracted.
[[nodiscard]] SmvsParameters sliding_mode(const SecondLoopParameters& parameters);

/// Input of the sliding-mode controller of the receive window at the end of a step. Amounts are payload bytes of one
/// connection.
struct SecondLoopObservation {
  Instant now;
  Bytes buffered;    ///< bytes received from the server and not yet sent towards the radio
  Bytes advertised;  ///< bytes advertised to the server and not received: right edge − rcv_nxt
  /// Bytes received from the server so far. If the number decreases, the controller measures no rate in this step.
  std::uint64_t received = 0;
  Duration server_rtt{};  ///< RTT to the server; zero while unknown
};

/// Converts an input of the sliding-mode controller of the receive window to the input of Smvs, with the proxy's buffer
/// as the queue.
[[nodiscard]] SmvsObservation as_queue(const SecondLoopObservation& seen);

}  // namespace sluice::control

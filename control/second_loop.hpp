#pragma once

#include <cstdint>

#include "control/receive_window_loop.hpp"
#include "control/smvs.hpp"

namespace sluice::control {

/// What steers the window advertised to the server.
enum class SecondLoopLaw : std::uint8_t {
  balance,      ///< ReceiveWindowLoop: the whole way from the server to the air is one queue
  sliding_mode  ///< Smvs again, around the relay's buffer of one connection
};

/// Parameters of the second loop under either law. The members of the base hold for both; `sliding` is what only the
/// sliding mode has, and its q0, frame, least q0 and first allowance are those of the base.
struct SecondLoopParameters : ReceiveWindowParameters {
  SecondLoopLaw law = SecondLoopLaw::balance;
  SmvsParameters sliding;
};

/// SMVS "following the same way" as the paper has it (TMC 2011, section 4.2, last paragraph): eqs. 17 to 36 with the
/// relay's buffer for the queue, the sending window of the proxy for b(k), and the server's round trip for 2τp. What
/// is under way to that queue is what was advertised and has not arrived: an edge is never taken back.
[[nodiscard]] SmvsParameters sliding_mode(const SecondLoopParameters& parameters);

/// What that law is told at the end of a step; all of it payload of one connection.
struct SecondLoopObservation {
  Instant now;
  Bytes buffered;              ///< received and not yet sent towards the radio
  Bytes advertised;            ///< right edge − rcv_nxt
  std::uint64_t received = 0;  ///< of the stream so far; one that runs backwards begins anew
  Duration server_rtt{};       ///< zero while unknown
};

[[nodiscard]] SmvsObservation as_queue(const SecondLoopObservation& seen);

}  // namespace sluice::control

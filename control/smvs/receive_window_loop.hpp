#pragma once

#include <cstdint>

#include "control/reference.hpp"
#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the second control loop, which sets the receive window advertised to the server.
struct ReceiveWindowParameters {
  /// Target q0 of the relay's buffer, at the larger of the drain rate and half of the best recent rate.
  Reference reference = Reference::time(std::chrono::milliseconds(30));
  Bytes minimum_reference{3000};    ///< smallest q0 in bytes
  Bytes frame{40};                  ///< size of a radio frame, for a reference in frames
  Bytes initial{64 * 1024};         ///< window advertised until a drain rate is known
  Bytes maximum{16 * 1024 * 1024};  ///< upper bound of the bytes buffered, advertised and excess at the radio together
};

/// Input of the second control loop, for each ACK that is built and for each step.
struct ReceiveWindowObservation {
  Bytes buffered;    ///< payload received from the server and not yet sent towards the radio
  Bytes advertised;  ///< bytes advertised to the server and not received: right edge − rcv_nxt

  /// This flow's share of the error of the radio queue: bytes in flight to the radio queue and in it, minus the
  /// reference of the first loop.
  OnWire<Bytes> radio_error;
  OnWire<Rate> drain;   ///< rate at which the radio leg sends or could send (b̄ of the first loop); zero while unknown
  Duration server_rtt;  ///< RTT to the server; zero while unknown
  Framing framing{};    ///< share of payload in the packets of the radio leg
  OnWire<Rate> best{};  ///< largest `drain` rate of the last seconds; zero if unknown
};

/// State of the second control loop for observers. All amounts are payload.
struct ReceiveWindowState {
  double reference = 0;        ///< q0: target of the relay's buffer in bytes
  double target = 0;           ///< target in bytes of buffered + advertised + excess at the radio
  double predicted_error = 0;  ///< ŝ, the predicted excess over the target, in bytes
};

/// Applies the law of SMVS to the window advertised to the server. The paper proposes this ("following the same way",
/// TMC 2011, section 4.2, last paragraph). It controls the data on the whole path from the server to the air.
///
/// The controlled queue is everything that was advertised to the server and has not left over the air. Its target is
/// what the radio takes during both round trips, plus the references q0 of both loops. An advertised edge is never
/// retracted, so the bytes in flight are exactly those advertised and not arrived:
///
/// ŝ = advertised + buffered − b̄·RTT − q0 + radio error; radio error = bytes on the way to the radio + radio queue −
/// b̄·2τp − q0 of the first loop; advance = max(0, −ŝ)
///
/// This is eq. 35 with δ·Ts = 1. The step is the time between two calls. The bytes drained in a step are part of ŝ, and
/// only the advancing side of sgn exists. A loop around the relay's buffer alone would detect a slower link only with a
/// full buffer, a faster one with an empty buffer.
///
/// A varying link can slow down and speed up again before the server notices. The relay's buffer must last until then.
/// Therefore q0 is computed for at least half of the best rate of the last seconds, if the first loop knows it.
///
/// If the server is slower than the link, b̄ is at most what the server can send. The part of q0 beyond the need of
/// this rate lets the window detect that the server has become faster. One object per flow. Reads no clock.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// Returns the number of bytes by which the right edge of the server's window may advance now.
  Bytes advance(const ReceiveWindowObservation& seen);

  /// True if a drain rate has ever been observed. Until then the window is ReceiveWindowParameters::initial.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

  [[nodiscard]] const ReceiveWindowParameters& parameters() const { return parameters_; }
  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  ReceiveWindowParameters parameters_;
  bool known_ = false;  ///< true once a drain rate was observed; a long stall of the link does not clear it
  ReceiveWindowState state_;
};

}  // namespace sluice::control

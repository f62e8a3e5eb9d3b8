#pragma once

#include <cstdint>

#include "control/reference.hpp"
#include "control/smvs/framing.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the controller that sets the receive window advertised to the server.
struct ReceiveWindowParameters {
  /// Target q0 of the proxy's buffer. A target in time is converted to bytes with the current rate of the radio leg. If
  /// half of the leg's highest recent rate is larger, it is converted with that half.
  Reference reference = Reference::time(std::chrono::milliseconds(30));
  Bytes minimum_reference{3000};  ///< smallest target of the proxy's buffer (q0) in bytes
  Bytes frame{40};                ///< size of a radio frame, by which a target in frames is converted to bytes
  Bytes initial{64 * 1024};       ///< window advertised until the rate of the radio leg is known
  /// Upper bound in bytes of a sum: the data buffered in the proxy, the advertised window, and the bytes by which the
  /// radio queue exceeds its target.
  Bytes maximum{16 * 1024 * 1024};
};

/// Input of the controller of the receive window. The proxy passes it at each ACK that the proxy sends to the server,
/// and at each step of the radio controller.
struct ReceiveWindowObservation {
  Bytes buffered;    ///< payload received from the server and not yet sent towards the radio
  Bytes advertised;  ///< bytes advertised to the server and not received: right edge − rcv_nxt

  /// This flow's share of the excess of the radio queue: bytes in flight to the queue and in it, minus the target of
  /// that sum.
  OnWire<Bytes> radio_error;
  /// mean rate of the radio link, of which this flow gets a part if flows share the link; zero while unknown
  OnWire<Rate> drain;
  Duration server_rtt;  ///< RTT to the server; zero while unknown
  /// share of payload in the IP packets of the radio leg; converts `radio_error`, `drain` and `best` to payload
  Framing framing{};
  OnWire<Rate> best{};  ///< highest value of `drain` in the last seconds; zero if unknown
};

/// State of the controller of the receive window, for logs and metrics. All amounts are payload.
struct ReceiveWindowState {
  double reference = 0;  ///< q0: target of the proxy's buffer in bytes
  /// Target in bytes of a sum: the data buffered in the proxy, the advertised window, and the bytes by which the radio
  /// queue exceeds its target.
  double target = 0;
  /// ŝ: the sum that `target` describes, minus this target, in bytes; if negative, the window may advance
  double predicted_error = 0;
};

/// Controls the receive window that the proxy advertises to the server, by the SMVS equations. The paper proposes this
/// use (TMC 2011, section 4.2, last paragraph). The controller limits the data on the whole path from the server to the
/// radio link.
///
/// The controller regards all data that was advertised to the server and not yet transmitted over the radio as one
/// queue. The target of that queue has two parts. One is what the radio link transmits during the round trips to the
/// server and to the Node-B. The other is the target q0 of the proxy's buffer plus the target q0 of the radio queue. An
/// advertised right edge is never retracted. So the bytes in flight from the server are exactly those advertised and
/// not arrived.
///
/// ŝ = advertised + buffered − b̄·RTT − q0 + radio error, and advance = max(0, −ŝ). Here b̄ is the mean rate of the
/// radio link, RTT the round trip to the server, and 2τp that to the Node-B. The radio error is: bytes on the way to
/// the radio + radio queue − b̄·2τp − the target q0 of the radio queue.
///
/// This is eq. 35 with δ·Ts = 1, where a step is the time between two calls. The bytes sent in a step are part of ŝ.
/// The window can only advance, so sgn(ŝ) of that equation is needed for negative ŝ only. A controller of the proxy's
/// buffer alone would detect a slower link only when the buffer is full.
///
/// A radio link can slow down and speed up again before the server reacts. The data in the proxy's buffer must last for
/// that time. So q0 is computed for at least half of the highest rate of the last seconds, if that rate is known.
///
/// If the server is slower than the link, b̄ is at most the rate of the server. Then q0 exceeds what that rate needs,
/// and the window detects when the server becomes faster. One object per flow. Reads no clock.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// Returns by how many bytes the right edge of the window advertised to the server may advance now.
  Bytes advance(const ReceiveWindowObservation& seen);

  /// True if a rate of the radio leg has ever been passed. Until then the window is ReceiveWindowParameters::initial.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

  [[nodiscard]] const ReceiveWindowParameters& parameters() const { return parameters_; }
  /// Calls visit(name, value) for each state member, for the decision log (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  ReceiveWindowParameters parameters_;
  bool known_ = false;  ///< true once the rate of the radio leg was known; a long stall of the link does not clear it
  ReceiveWindowState state_;
};

}  // namespace sluice::control

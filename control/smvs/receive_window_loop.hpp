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
  /// q0: target of the proxy's buffer. A target in time is converted to bytes with a rate: the mean rate of the radio
  /// link, or half of its highest recent rate if that is larger.
  Reference reference = Reference::time(std::chrono::milliseconds(30));
  Bytes minimum_reference{3000};  ///< smallest target of the proxy's buffer (q0) in bytes
  Bytes frame{40};                ///< size of a radio frame, by which a target in frames is converted to bytes
  Bytes initial{64 * 1024};       ///< window advertised until the rate of the radio link is known
  /// Upper bound in bytes for the sum of three amounts: the data buffered in the proxy, the advertised window, and the
  /// bytes by which the radio queue exceeds its target.
  Bytes maximum{16 * 1024 * 1024};
};

/// Input of ReceiveWindowLoop, which controls the receive window that the proxy advertises to the server. The proxy
/// passes it with each ACK to the server, and at each step of the controller of the radio queue.
struct ReceiveWindowObservation {
  Bytes buffered;    ///< payload received from the server and not yet sent towards the radio
  Bytes advertised;  ///< bytes advertised to the server and not received: right edge − rcv_nxt

  /// This flow's share of the excess of data on the way to the UE: the bytes in the radio queue and in flight to it,
  /// minus the target of their sum.
  OnWire<Bytes> radio_error;
  /// This flow's share of the mean rate of the radio link; zero while unknown.
  OnWire<Rate> drain;
  Duration server_rtt;  ///< RTT to the server; zero while unknown
  /// share of payload in the IP packets of the radio leg; converts `radio_error`, `drain` and `best` to payload
  Framing framing{};
  OnWire<Rate> best{};  ///< highest value of `drain` in the last seconds; zero if unknown
};

/// State of ReceiveWindowLoop, which controls the receive window, for logs and metrics. All amounts are payload.
struct ReceiveWindowState {
  double reference = 0;  ///< q0: target of the proxy's buffer in bytes
  /// Target in bytes for the sum of three amounts: the data buffered in the proxy, the advertised window, and the bytes
  /// by which the radio queue exceeds its target.
  double target = 0;
  /// ŝ: the sum of amounts that `target` applies to, minus `target`, in bytes. If it is negative, the window may
  /// advance.
  double predicted_error = 0;
};

/// Controls the receive window that the proxy advertises to the server, by the equations of SMVS (sliding-mode
/// controller; Ren & Lin, TMC 2011). The paper proposes this use in section 4.2, last paragraph.
///
/// The controller regards all data that was advertised to the server and not yet transmitted over the radio as one
/// queue. The target of that queue has two parts. One is what the radio link transmits during the round trips to the
/// server and to the Node-B. The other is the sum of the targets of the proxy's buffer (q0) and of the radio queue. An
/// advertised right edge is never retracted. So the bytes in flight from the server are exactly those advertised and
/// not arrived.
///
/// The equations are: ŝ = advertised + buffered − b̄·RTT − q0 + radio error, and advance = max(0, −ŝ). Here b̄ is the
/// mean rate of the radio link, and RTT the round trip to the server. The radio error is (bytes on the way to the radio
/// + radio queue) − (b̄·2τp + target of the radio queue). 2τp is the round trip to the Node-B.
///
/// This is eq. 35 with δ·Ts = 1, where a step is the time between two calls. The bytes sent in a step are part of ŝ.
/// The window can only advance, so only negative ŝ have an effect. A controller of the proxy's buffer alone would
/// detect a slower link only when the buffer is full.
///
/// A radio link can slow down and speed up again before the server reacts, and the proxy's buffer must last for that
/// time. So q0 is computed with at least half of the highest rate of the last seconds, if that rate is known. If the
/// server is slower than the link, b̄ is at most the rate of the server. This q0 then exceeds what that rate needs, so
/// the window allows more when the server becomes faster. One object per flow. Reads no clock.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// Returns by how many bytes the right edge of the window advertised to the server may advance now.
  Bytes advance(const ReceiveWindowObservation& seen);

  /// True if a rate of the radio link above zero has ever been passed. Until then the window is
  /// ReceiveWindowParameters::initial.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

  [[nodiscard]] const ReceiveWindowParameters& parameters() const { return parameters_; }
  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  ReceiveWindowParameters parameters_;
  bool known_ = false;  ///< true once a rate of the radio link was known; a long stall of the link does not clear it
  ReceiveWindowState state_;
};

}  // namespace sluice::control

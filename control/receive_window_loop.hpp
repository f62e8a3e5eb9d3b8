#pragma once

#include <cstdint>

#include "control/framing.hpp"
#include "control/reference.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the second loop.
struct ReceiveWindowParameters {
  /// q0 of the relay's buffer, at the drain rate or at half of the best of late, whichever is more.
  Reference reference = Reference::time(std::chrono::milliseconds(30));
  Bytes minimum_reference{3000};    ///< q0 is never taken for less
  Bytes frame{40};                  ///< what a frame of the reference is
  Bytes initial{64 * 1024};         ///< window until a drain rate is known
  Bytes maximum{16 * 1024 * 1024};  ///< what is steered never exceeds this
};

/// What the second loop is told, whenever convenient (each ACK that is built, each step).
struct ReceiveWindowObservation {
  Bytes buffered;    ///< payload received and not yet sent towards the radio
  Bytes advertised;  ///< right edge − rcv_nxt
  /// This flow's share of what is on the way to the radio queue and in it, less what belongs there.
  OnWire<Bytes> radio_error;
  OnWire<Rate> drain;   ///< what the radio leg takes, or could take (b̄ of the first loop); zero while unknown
  Duration server_rtt;  ///< zero while unknown
  Framing framing{};    ///< of what the radio leg sends
  OnWire<Rate> best{};  ///< the highest that `drain` was in the last seconds; zero where that is not known
};

/// A snapshot for observers. All of it is payload.
struct ReceiveWindowState {
  double reference = 0;        ///< q0, bytes
  double target = 0;           ///< what buffered + radio error + advertised is steered to, bytes
  double predicted_error = 0;  ///< ŝ, bytes
};

/// SMVS "following the same way" for the window advertised to the server (TMC 2011, section 4.2, last paragraph), over
/// the whole way from the server to the air. The queue is everything that was advertised to the server and has not left
/// over the air; what belongs there is what the radio takes during both round trips, and the references of both
/// loops. An edge once advertised is never retracted, so what is under way is exactly what was advertised and has not
/// arrived:
///
///     ŝ = advertised + buffered − b̄·RTT − q0 + (on the way to the radio + radio queue − b̄·2τp − q0 of the first loop)
///     advance = max(0, −ŝ)
///
/// which is eq. 35 with δ·Ts = 1: the step is whatever time passes between two calls, what drained in it is part of ŝ,
/// and only the advancing side of sgn exists. The parenthesis is `radio_error`. A loop around the relay's buffer alone
/// would learn of a slower link only when that buffer has filled, and of a faster one when it has run dry.
///
/// A link that swings is slow now and fast before the server has heard of it. What waits here must last until then, so
/// q0 is reckoned at no less than half of the best rate of the last seconds, where the first loop knows that.
///
/// Where the server was the slower one, b̄ is no more than it could send; q0 beyond what that rate needs, each round
/// trip, is how the window finds out that it has become faster. One per flow. No clock inside.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// By how much the right edge may advance now.
  Bytes advance(const ReceiveWindowObservation& seen);

  /// Whether a drain rate has ever been observed. Until then the target is `initial`.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

  [[nodiscard]] const ReceiveWindowParameters& parameters() const { return parameters_; }
  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  ReceiveWindowParameters parameters_;
  bool known_ = false;  ///< the drain was; a link that stands still for long is not a link that nothing is known of
  ReceiveWindowState state_;
};

}  // namespace sluice::control

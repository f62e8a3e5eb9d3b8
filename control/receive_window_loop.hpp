#pragma once

#include <cstdint>

#include "control/reference.hpp"
#include "control/sliding_extremes.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the second loop.
struct ReceiveWindowParameters {
  Reference reference =
      Reference::time(std::chrono::milliseconds(25));  ///< q0 of the relay's buffer, at the drain rate
  Bytes minimum_reference{3000};                       ///< q0 is never taken for less
  Bytes frame{40};                                     ///< what a frame of the reference is
  Duration eta_window = std::chrono::seconds(1);       ///< how far back the bounds of the drain's variation look, > 0
  double eta_weight = 0.25;        ///< how much of the drain's upward variation the window makes room for, 0 … 1
  Bytes initial{64 * 1024};        ///< window while no drain rate is known
  Bytes maximum{4 * 1024 * 1024};  ///< buffered + promised never exceeds this
};

/// What the second loop is told, whenever convenient (each ACK that is built, each step).
struct ReceiveWindowObservation {
  Instant now;
  Bytes buffered;     ///< received and not yet sent towards the radio
  Bytes promised;     ///< right edge − rcv_nxt
  Bytes radio_error;  ///< ŝ of the first loop, this flow's share: what the radio queue will hold beyond its reference
  Rate drain;         ///< what the radio leg takes, or could take (b̄ of the first loop is best); zero while unknown
  Duration server_rtt;  ///< zero while unknown
};

/// A snapshot for observers.
struct ReceiveWindowState {
  Rate mean_drain;
  double reference = 0;        ///< q0, bytes
  double target = 0;           ///< what buffered + promised is steered to, bytes
  double predicted_error = 0;  ///< ŝ, bytes
  bool starved = false;        ///< the buffer has lately run (nearly) empty: the server was given too little
  double growth = 1;           ///< by which the round trip counts more because of it
};

/// SMVS "following the same way" for the window advertised to the server (TMC 2011, section 4.2, last paragraph). The
/// queue is the relay's buffer, its service rate what the radio leg drains, the delay the server's round trip. Its
/// output advances the right edge of the advertised window; an edge once promised is never retracted, so what is under
/// way is exactly what was promised and has not arrived:
///
///     ŝ = buffered + radio error + promised − b̄·RTT − q0,   advance = max(0, ηu·RTT − ŝ)
///
/// which is eq. 35 with δ·Ts = 1: the step is whatever time passes between two calls, what drained in it is part of ŝ,
/// and only the advancing side of sgn exists. The radio queue's own error counts because the first loop will work it
/// off at this buffer's cost: what stands there too much is withheld here before long, and what is missing there is
/// taken from here. Without it the server learns of a slower link only once the relay's buffer has filled.
///
/// While the buffer is starved the round trip counts more: a little at once, and twice when that has lasted, since the
/// drain seen is then the server's rate and not the radio's (as slow start doubles). One per flow or bearer. No clock
/// inside.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// By how much the right edge may advance now.
  Bytes advance(const ReceiveWindowObservation& seen);

  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

 private:
  void measure(Instant now, Rate drain, double rtt_s);
  void watch_starvation(const ReceiveWindowObservation& seen);
  [[nodiscard]] double target(Instant now, double rtt_s) const;

  ReceiveWindowParameters parameters_;
  SlidingExtremes eta_;
  Instant last_{};
  Instant starved_since_{};
  Instant starved_until_{};
  double mean_ = 0;  ///< bytes/s
  bool known_ = false;
  ReceiveWindowState state_;
};

}  // namespace sluice::control

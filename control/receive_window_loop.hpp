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
      Reference::time(std::chrono::milliseconds(40));  ///< q0 of the relay's buffer, at the drain rate
  Bytes minimum_reference{8 * 1024};                   ///< q0 is never taken for less
  Bytes frame{40};                                     ///< what a frame of the reference is
  Duration eta_window = std::chrono::seconds(1);       ///< how far back the bounds of the drain's variation look, > 0
  double eta_weight = 0.5;         ///< how much of the drain's upward variation the window makes room for, 0 … 1
  Bytes initial{64 * 1024};        ///< window while no drain rate is known
  Bytes maximum{4 * 1024 * 1024};  ///< buffered + promised never exceeds this
};

/// A snapshot for observers.
struct ReceiveWindowState {
  Rate mean_drain;
  double reference = 0;        ///< q0, bytes
  double target = 0;           ///< what buffered + promised is steered to, bytes
  double predicted_error = 0;  ///< ŝ, bytes
  bool starved = false;        ///< the buffer has lately run (nearly) empty: the server was given too little
};

/// SMVS "following the same way" for the window advertised to the server (TMC 2011, section 4.2, last paragraph). The
/// queue is the relay's buffer, its service rate what the radio leg drains, the delay the server's round trip. Its
/// output advances the right edge of the advertised window; an edge once promised is never retracted, so what is under
/// way is exactly what was promised and has not arrived:
///
///     ŝ = buffered + promised − b̄·RTT − q0,   advance = max(0, ηu·RTT − ŝ)
///
/// which is eq. 35 with δ·Ts = 1: the step is whatever time passes between two calls, what drained in it is part of ŝ,
/// and only the advancing side of sgn exists. While the buffer is starved the round trip counts twice, since the drain
/// seen is then the server's rate and not the radio's (as slow start doubles). One per flow or bearer. No clock inside.
class ReceiveWindowLoop {
 public:
  explicit ReceiveWindowLoop(const ReceiveWindowParameters& parameters = {});

  /// By how much the right edge may advance now. Call it whenever convenient (each ACK that is built, each step).
  /// `buffered`: bytes received and not yet sent towards the radio (what awaits an acknowledgement there is the first
  /// loop's affair; counting it would starve the radio leg); `promised`: right edge − rcv_nxt; `drain`: the rate at
  /// which the radio leg takes bytes, or could take them (b̄ of the SMVS loop is best), zero while unknown;
  /// `server_rtt`: zero while unknown.
  Bytes advance(Instant now, Bytes buffered, Bytes promised, Rate drain, Duration server_rtt);

  [[nodiscard]] const ReceiveWindowState& state() const { return state_; }

 private:
  void measure(Instant now, Rate drain, double rtt_s);
  [[nodiscard]] double target(Instant now, double rtt_s) const;

  ReceiveWindowParameters parameters_;
  SlidingExtremes eta_;
  Instant last_{};
  Instant starved_until_{};
  double mean_ = 0;  ///< bytes/s
  bool known_ = false;
  ReceiveWindowState state_;
};

}  // namespace sluice::control

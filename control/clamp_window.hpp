#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of CLAMP's window agent. Defaults are the paper's but for what its text leaves to practice.
struct ClampWindowParameters {
  Bytes gain{500};                  ///< τ, > 0: what each flow adds to the queue; the same for all flows
  double smoothing = 0.001;         ///< β of the round-trip estimate, 0 < β < 1
  std::size_t rate_packets = 1000;  ///< ν, ≥ 1: over how many packets the rate is measured; 16 bytes of memory each
  Bytes largest_increase{10'000};   ///< per packet, > 0
  Bytes segment{1448};              ///< MSS, > 0; but for w(0) = MSS, w is never less than two
  /// The window is never more, and slow start ends there: the paper's threshold "in practice". ≥ 2 segments.
  Bytes largest{4 * 1024 * 1024};
};

/// Checks ranges.
[[nodiscard]] std::vector<Violation> validate(const ClampWindowParameters& parameters);

/// A snapshot for observers.
struct ClampWindowState {
  Rate rate;              ///< μ̂
  Duration round_trip{};  ///< d̂
  double window = 0;      ///< w, bytes
  double change = 0;      ///< Δw of the last packet by eq. 14, clipped, bytes
  bool slow_start = true;
};

/// CLAMP's window agent of one flow (TMC 2008, sections 4.2 and 4.3). The paper puts it into the receiver; it may be
/// fed anywhere the flow's data passes. No clock inside; memory is taken at construction; thread: its flow's.
///
/// Readings. Of the clipping our copy has lost the symbols; it is Δw that is clipped to +10 kB, and w would make no
/// sense. The sum of μ̂ has ν + 1 terms over ν intervals, as its own example μ̂(t₂) = (s₁ + s₂)/(t₂ − t₁) has. Slow start
/// halves w with the packet that ends it, the paper with the one after. d̂ keeps its first value while μ̂ is zero.
class ClampWindow {
 public:
  /// `first_round_trip`: from the SYN-ACK to the first data; taken for 1 ms when it is less. Parameters must be free of
  /// errors according to validate(); throws std::invalid_argument otherwise.
  ClampWindow(const ClampWindowParameters& parameters, Duration first_round_trip);

  /// A data packet of `size` bytes passes; `price` is p, the newest heard of the Node-B. Returns the window for ACKs
  /// from now on: min(w, `offered`), eq. 17, with `offered` what the receiver itself advertises, in bytes.
  Bytes on_data(Instant now, Bytes size, Duration price, Bytes offered);
  /// A third duplicate ACK: a loss, which ends slow start. Nothing else is made of it; recovery is TCP's.
  void on_loss();

  /// Starts with a known window instead of with slow start: this law takes over from another.
  void seed(Bytes window);

  [[nodiscard]] const ClampWindowState& state() const { return state_; }

 private:
  struct Packet {
    Instant at;
    double size = 0;
  };

  void measure(Instant now, double size);
  void advance(double size, double change);
  void end_slow_start();

  ClampWindowParameters parameters_;
  std::vector<Packet> packets_;  ///< ring of the last ν + 1
  std::size_t next_ = 0;
  std::size_t used_ = 0;
  double sum_ = 0;  ///< of the sizes in the ring
  Instant last_{};
  double rate_ = 0;          ///< μ̂, bytes/s
  double round_trip_s_ = 0;  ///< d̂
  ClampWindowState state_;
};

}  // namespace sluice::control

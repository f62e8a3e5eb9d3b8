#pragma once

#include <array>
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
  std::size_t rate_packets = 1000;  ///< ν, ≥ 1: over how many packets the rate is measured
  Bytes largest_increase{10'000};   ///< per packet, > 0
  Bytes segment{1448};              ///< MSS, > 0; but for w(0) = MSS, w is never less than two
  /// The window is never more, and slow start ends there: the paper's threshold "in practice". ≥ 2 segments.
  Bytes largest{4 * 1024 * 1024};
};

/// Checks ranges.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const ClampWindowParameters& parameters);

/// A snapshot for observers.
struct ClampWindowState {
  Rate rate;              ///< μ̂
  Duration round_trip{};  ///< d̂
  double window = 0;      ///< w, bytes
  double change = 0;      ///< Δw of the last packet by eq. 14, clipped, bytes
  bool slow_start = true;
};

/// CLAMP's window agent of one flow (TMC 2008, sections 4.2 and 4.3). The paper puts it into the receiver; it may be
/// fed anywhere the flow's data passes. No clock inside; thread: its flow's.
///
/// Readings. Of the clipping our copy has lost the symbols; it is Δw that is clipped to +10 kB, and w would make no
/// sense. The sum of μ̂ has ν + 1 terms over ν intervals, as its own example μ̂(t₂) = (s₁ + s₂)/(t₂ − t₁) has. Slow start
/// halves w with the packet that ends it, the paper with the one after. d̂ keeps its first value while μ̂ is zero.
/// Beyond the paper: the packets of μ̂ are remembered in at most 16 groups, so that with ν > 15 the sum spans between
/// 15/16 of ν and ν; and a window that does not hold the sender back does not grow (RFC 7661), or a flow that
/// sends little would pile up one that the queue has to bear when it sends much.
class ClampWindow {
 public:
  /// `first_round_trip`: from the SYN-ACK to the first data; taken for 1 ms when it is less. Parameters must be free of
  /// errors according to validate(); throws std::invalid_argument otherwise.
  ClampWindow(const ClampWindowParameters& parameters, Duration first_round_trip);

  /// A data packet of `size` bytes passes; `price` is p, the newest heard of the Node-B. Returns the window for ACKs
  /// from now on: min(w, `offered`), eq. 17, with `offered` what the receiver itself advertises, in bytes. `limited`: w
  /// is what holds the sender back, as far as is known.
  Bytes on_data(Instant now, Bytes size, Duration price, Bytes offered, bool limited = true);
  /// A third duplicate ACK: a loss, which ends slow start. Nothing else is made of it; recovery is TCP's.
  void on_loss();

  /// Starts with a known window instead of with slow start: this law takes over from another.
  void seed(Bytes window);

  [[nodiscard]] Bytes gain() const { return parameters_.gain; }
  [[nodiscard]] const ClampWindowState& state() const { return state_; }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr std::size_t groups = 16;
  void measure(Instant now, double size);
  void advance(double size, double change, bool limited);
  void end_slow_start();

  ClampWindowParameters parameters_;
  // Ring of the last ν + 1 packets, in groups of some in a row.
  std::array<Instant, groups> firsts_{};       ///< when the first of each came
  std::array<std::uint32_t, groups> sizes_{};  ///< bytes of each
  std::uint8_t newest_ = 0;
  std::uint8_t used_ = 0;
  std::uint16_t per_group_;  ///< packets
  std::uint16_t in_newest_ = 0;
  double sum_ = 0;  ///< of the sizes in the ring
  Instant last_{};
  double rate_ = 0;          ///< μ̂, bytes/s
  double round_trip_s_ = 0;  ///< d̂
  ClampWindowState state_;
};

}  // namespace sluice::control

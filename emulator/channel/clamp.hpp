#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Returns the Doppler frequency in Hz at a speed in km/h, for a carrier of 1.8 GHz (CLAMP; Andrew, Hanly and Mukhtar,
/// TMC 2008).
[[nodiscard]] constexpr double clamp_doppler_hz(double kmh) {
  constexpr double wavelength = 0.1666;  // wavelength in m
  return kmh / 3.6 / wavelength;
}

/// Parameters of the slot channel of the CLAMP paper (Andrew, Hanly and Mukhtar, TMC 2008). The defaults are those of
/// the paper's slow, wide cell.
struct ClampParameters {
  double mean_snr_db = 6.02;    ///< mean SNR in dB (SNRave = 4, linear), −30 … 60
  double speed_kmh = 0.36;      ///< speed of the UE, 0 … 500; the CLAMP paper's slow UEs have 0.36, its fast ones 36
  double bandwidth_hz = 4.3e6;  ///< bandwidth (W0), > 0; 620 kHz in the low-rate scenario
  Rate max_rate = Rate::bits_per_second(10e6);  ///< largest rate (Cmax), > 0; 1.44 Mb/s in the low-rate scenario
  /// Largest number of transmissions of a packet (n), 1 … 100: 5 for slow, 15 for fast fading.
  std::uint32_t attempts = 5;
  double target = 1e-3;  ///< intended share of packets that are lost in all of their n transmissions, between 0 and 1
};

/// Slot channel of the CLAMP paper (Andrew, Hanly and Mukhtar, TMC 2008). Slot s carries B(s) = slot·min(W0·log2(1 +
/// (1−m)·N(s)), Cmax) bits. All of them are lost if the channel's capacity at the end of the slot is lower: B(s) >
/// slot·W0·log2(1 + N(s+1)).
///
/// N is the SNR under Rayleigh fading (`Fading`) with the paper's spectrum. The fading has more than the paper's 20
/// sinusoids, and they differ between UEs. The rate margin m adapts until sequences of attempts fail as often as
/// `target` states. At a failure, ln(1−m) decreases by one step; at a success it grows by that step times target/(1 −
/// target).
///
/// The rate margin adapts in every slot, whether the UE is served or not, so that the link stays a function of the slot
/// number.
class ClampChannel final : public SteppedChannel {
 public:
  /// Creates the channel. `slot` is 3 ms in the paper. Throws std::invalid_argument if a parameter is out of its range.
  ClampChannel(const ClampParameters& parameters, Duration slot, const Random& random);

  /// Returns the present rate margin m, 0 … 1.
  [[nodiscard]] double margin() const { return 1 - back_off_; }
  /// Returns the number of packets whose transmissions have ended. One packet is transmitted in successive slots until
  /// it is received, but not more often than ClampParameters::attempts permits.
  [[nodiscard]] std::uint64_t sequences() const { return sequences_; }
  /// Returns the number of packets that were lost in all of their transmissions.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override;

 private:
  /// Returns the bits that a slot can carry at a linear SNR (Shannon).
  [[nodiscard]] double shannon_bits(double snr) const;
  /// Adapts the rate margin to the outcome of a slot. `received` is true if the slot's bits were received.
  void adapt(bool received);

  ClampParameters parameters_;
  double slot_s_;    ///< length of a slot in seconds
  double mean_snr_;  ///< mean SNR, linear
  Fading fading_;
  double back_off_ = 0.9;  ///< 1−m
  std::uint32_t failed_in_a_row_ = 0;
  std::uint64_t sequences_ = 0;
  std::uint64_t failures_ = 0;
  double snr_ = 0;         ///< SNR at the start of the latest slot, linear
  double snr_at_end_ = 0;  ///< SNR at the end of the latest slot, linear
};

}  // namespace sluice::emulator

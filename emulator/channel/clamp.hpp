#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Doppler frequency in Hz at a speed in km/h, of the paper's carrier of 1.8 GHz.
[[nodiscard]] constexpr double clamp_doppler_hz(double kmh) {
  constexpr double wavelength = 0.1666;  // m
  return kmh / 3.6 / wavelength;
}

/// The slot channel of the CLAMP paper (Andrew, Hanly and Mukhtar, TMC 2008); the defaults are its slow, wide cell.
struct ClampParameters {
  double mean_snr_db = 6.02;                    ///< SNRave = 4; −30 … 60
  double speed_kmh = 0.36;                      ///< 0.1 m/s; 36 km/h is its fast one; 0 … 500
  double bandwidth_hz = 4.3e6;                  ///< W0, > 0; 620 kHz in the low-rate scenario
  Rate max_rate = Rate::bits_per_second(10e6);  ///< Cmax, > 0; 1.44 Mb/s in the low-rate scenario
  std::uint32_t attempts = 5;                   ///< n, 1 … 100: 5 for slow, 15 for fast fading
  double target = 1e-3;                         ///< of what is sent, the part lost after n attempts; 0 < target < 1
};

/// B(s) = slot·min(W0·log2(1 + (1−m)·N(s)), Cmax) bits go into slot s; they arrive unless the channel has fallen below
/// them when the slot ends: B(s) > slot·W0·log2(1 + N(s+1)). N is Rayleigh (`Fading`: more sinusoids than the paper's
/// 20 and no two UEs alike, the same spectrum). The margin m adapts so that sequences of attempts fail as often as the
/// target says: the back-off 1−m shrinks by a step at each failure and grows by as much of it as the target is of a
/// success. It follows the channel in every slot, served or not, so that the link stays a function of the slot number.
class ClampChannel final : public SteppedChannel {
 public:
  /// `slot`: 3 ms in the paper. Throws std::invalid_argument when a parameter is out of its range.
  ClampChannel(const ClampParameters& parameters, Duration slot, const Random& random);

  /// The margin m, 0 … 1.
  [[nodiscard]] double margin() const { return 1 - back_off_; }
  /// Sequences of attempts that ended, and those of them that ended in a loss.
  [[nodiscard]] std::uint64_t sequences() const { return sequences_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 protected:
  Grant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override;

 private:
  [[nodiscard]] double shannon_bits(double snr) const;
  void adapt(bool received);

  ClampParameters parameters_;
  double slot_s_;
  double mean_snr_;
  Fading fading_;
  double back_off_ = 0.9;
  std::uint32_t failed_in_a_row_ = 0;
  std::uint64_t sequences_ = 0;
  std::uint64_t failures_ = 0;
  double snr_ = 0;         ///< when the latest slot began
  double snr_at_end_ = 0;  ///< when it ended
};

}  // namespace sluice::emulator

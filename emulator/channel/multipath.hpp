#pragma once

#include <cstdint>
#include <vector>

#include "emulator/channel/fading.hpp"

namespace sluice::emulator {

/// Tapped delay lines of ITU-R M.1225. The emulator uses only how the power of the whole band varies. The more echoes
/// of similar strength a profile has, the less this power varies.
enum class MultipathProfile : std::uint8_t { flat, pedestrian_a, pedestrian_b, vehicular_a };

/// Power of a frequency band over a multipath channel. Each tap of the delay line fades independently, as Rayleigh with
/// Jakes' spectrum. The power, averaged over the frequencies of the band, is the sum of the powers of the taps
/// (Parseval). This sum varies over time, with a mean of 1. MultipathProfile::flat has one tap.
class Multipath {
 public:
  /// Creates the taps, each with its own random stream. `doppler` is the Doppler frequency in Hz, and `interval` the
  /// time between two steps. Throws std::invalid_argument if `doppler` is negative or `interval` is not above 0.
  Multipath(MultipathProfile profile, double doppler, Duration interval, const Random& random);

  /// Returns the fading power at step `number`, relative to the mean power.
  double power(std::uint64_t number) {
    double sum = 0;
    for (Tap& tap : taps_) sum += tap.weight * tap.fading.power(number);
    return sum;
  }

  /// Writes the powers of the stretch (Fading::stretch steps) that begins at step `first` to `sums`. `first` must be a
  /// multiple of Fading::stretch.
  void powers_from(std::uint64_t first, FadingStretch& sums) {
    taps_.front().powers_from(first, sums);
    for (std::size_t i = 1; i < taps_.size(); ++i) {
      FadingStretch more;
      taps_[i].powers_from(first, more);
      for (std::size_t step = 0; step < sums.size(); ++step) sums[step] += more[step];
    }
  }

 private:
  /// One tap of the delay line: its fading, and its share of the mean power.
  struct Tap {
    void powers_from(std::uint64_t first, FadingStretch& powers) {
      const auto& [re, im] = fading.gains_from(first);
      for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = weight * (re[i] * re[i] + im[i] * im[i]);
    }

    double weight;  ///< share of the mean power that this tap has
    Fading fading;
  };
  std::vector<Tap> taps_;
};

}  // namespace sluice::emulator

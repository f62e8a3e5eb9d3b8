#pragma once

#include <cstdint>
#include <vector>

#include "emulator/channel/fading.hpp"

namespace sluice::emulator {

/// Tapped delay lines of ITU-R M.1225. What the emulator takes from them is how much the power of the whole band
/// varies: the more echoes of like strength, the less.
enum class MultipathProfile : std::uint8_t { flat, pedestrian_a, pedestrian_b, vehicular_a };

/// Power of a band over a multipath channel: taps fade independently, each Rayleigh with Jakes' spectrum, and the mean
/// over the band is the sum of their powers (Parseval). Its mean is 1. `flat` is one tap: Fading itself.
class Multipath {
 public:
  /// As Fading; each tap has a stream of its own.
  Multipath(MultipathProfile profile, double doppler, Duration interval, const Random& random);

  double power(std::uint64_t number) {
    double sum = 0;
    for (Tap& tap : taps_) sum += tap.weight * tap.fading.power(number);
    return sum;
  }

  /// The same at each step of the stretch that `first`, a multiple of its length, begins.
  void powers_from(std::uint64_t first, FadingStretch& sums) {
    taps_.front().powers_from(first, sums);
    for (std::size_t i = 1; i < taps_.size(); ++i) {
      FadingStretch more;
      taps_[i].powers_from(first, more);
      for (std::size_t step = 0; step < sums.size(); ++step) sums[step] += more[step];
    }
  }

 private:
  struct Tap {
    void powers_from(std::uint64_t first, FadingStretch& powers) {
      const auto& [re, im] = fading.gains_from(first);
      for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = weight * (re[i] * re[i] + im[i] * im[i]);
    }

    double weight;
    Fading fading;
  };
  std::vector<Tap> taps_;
};

}  // namespace sluice::emulator

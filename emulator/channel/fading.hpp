#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Wavelength of the carrier, m: 2 GHz.
inline constexpr double carrier_wavelength = 0.15;

/// A fade is never taken to be deeper: the power is to have a logarithm.
inline constexpr double least_fading_power = 1e-12;

/// Doppler frequency in Hz at a speed in km/h.
[[nodiscard]] constexpr double doppler_hz(double kmh) {
  return kmh / 3.6 / carrier_wavelength;
}

/// How long a fading link is about the same: 0.423 / fd (Rappaport, Wireless Communications, eq. 5.40.c). `doppler` >
/// 0.
[[nodiscard]] constexpr Duration coherence_time(double doppler) {
  return from_seconds(0.423 / doppler);
}

/// Rayleigh fading with Jakes' spectrum as a sum of sinusoids: h(t) = N^-1/2 Σ exp(j(2π·fd·cos αn·t + φn)). The angles
/// of arrival αn are spread evenly with a small random displacement, so that a single realisation has the
/// autocorrelation J0(2π·fd·τ) and yet no two of them share frequencies; the phases φn are random. A function of the
/// step's number alone.
class Fading {
 public:
  static constexpr std::size_t sinusoids = 64;
  /// Steps that are computed at once: each sinusoid is fetched and put back once for all of them.
  static constexpr std::size_t stretch = 16;

  /// `interval`: time between steps, > 0. `doppler` >= 0, in Hz. Throws std::invalid_argument otherwise.
  Fading(double doppler, Duration interval, Random random);

  /// |h|² at step `number`; its mean is 1. Any order, fastest when increasing.
  double power(std::uint64_t number) { return std::norm(gain(number)); }
  /// The value of h at step `number`.
  std::complex<double> gain(std::uint64_t number) {
    const Gains& gains = gains_from(number / stretch * stretch);
    return {gains.re[number % stretch], gains.im[number % stretch]};
  }
  /// The values at each step of a stretch.
  struct Gains {
    std::array<double, stretch> re{};
    std::array<double, stretch> im{};
  };
  /// Those from step `first` on, a multiple of `stretch`. Valid until the next call.
  const Gains& gains_from(std::uint64_t first) {
    if (first != first_) compute(first);
    return gains_;
  }

 private:
  using Row = std::array<double, sinusoids>;  ///< in the order in which they are added up
  void anchor(std::uint64_t number);
  void compute(std::uint64_t first);

  Row turn_{};                 ///< of each sinusoid, radians per step
  Row phase_{};                ///< at step 0
  Row re_{}, im_{};            ///< each sinusoid at step at_
  Row step_re_{}, step_im_{};  ///< the rotation of one step
  std::uint64_t at_ = 0;       ///< behind the stretch that was computed last
  std::uint64_t first_ = UINT64_MAX;
  Gains gains_;  ///< from step first_ on
};

/// A number for each step of a stretch.
using FadingStretch = std::array<double, Fading::stretch>;

}  // namespace sluice::emulator

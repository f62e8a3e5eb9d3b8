#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Wavelength of the 2 GHz carrier in m.
inline constexpr double carrier_wavelength = 0.15;

/// Lower bound of the fading power, because zero power has no logarithm.
inline constexpr double min_fading_power = 1e-12;

/// Returns the Doppler frequency in Hz at a speed in km/h, for the 2 GHz carrier.
[[nodiscard]] constexpr double doppler_hz(double kmh) {
  return kmh / 3.6 / carrier_wavelength;
}

/// Returns the coherence time of a fading link, 0.423 / fd (Rappaport, Wireless Communications, eq. 5.40.c). `doppler`
/// must be above 0.
[[nodiscard]] constexpr Duration coherence_time(double doppler) {
  return from_seconds(0.423 / doppler);
}

/// Rayleigh fading with Jakes' spectrum as a sum of sinusoids: h(t) = N^-1/2 Σ exp(j(2π·fd·cos αn·t + φn)). The phases
/// φn are random. The angles of arrival αn are evenly spread with a small random displacement. Therefore a single
/// realisation has the autocorrelation J0(2π·fd·τ), and no two realisations share frequencies. The result depends on
/// the step number alone.
class Fading {
 public:
  /// Number of sinusoids (N).
  static constexpr std::size_t sinusoids = 64;
  /// Number of steps in a stretch. A step is one time interval of the fading, such as a TTI. A stretch is a run of
  /// consecutive steps that are computed at once. Each sinusoid is then loaded and stored once for the whole stretch.
  static constexpr std::size_t stretch = 16;

  /// Creates the fading of one path. `interval` is the time between steps, > 0; `doppler` is in Hz, >= 0. Throws
  /// std::invalid_argument otherwise.
  Fading(double doppler, Duration interval, Random random);

  /// Returns |h|² at step `number`; its mean is 1. Steps may be read in any order; increasing order is fastest.
  double power(std::uint64_t number) { return std::norm(gain(number)); }
  /// Returns the complex gain h at step `number`.
  std::complex<double> gain(std::uint64_t number) {
    const Gains& gains = gains_from(number / stretch * stretch);
    return {gains.re[number % stretch], gains.im[number % stretch]};
  }
  /// Gain h at each step of a stretch (Fading::stretch consecutive steps), as real and imaginary parts.
  struct Gains {
    std::array<double, stretch> re{};
    std::array<double, stretch> im{};
  };
  /// Returns the gains of the stretch that begins at step `first`, a multiple of Fading::stretch. The result is valid
  /// until the next call.
  const Gains& gains_from(std::uint64_t first) {
    if (first != first_) compute(first);
    return gains_;
  }

 private:
  /// One value per sinusoid, in the memory order that place_of() (fading.cpp) determines.
  using Row = std::array<double, sinusoids>;

  /// Computes the sinusoids at step `number` exactly.
  void anchor(std::uint64_t number);
  /// Computes the gains of the stretch that begins at step `first`.
  void compute(std::uint64_t first);

  Row turn_{};                 ///< rotation of each sinusoid, radians per step
  Row phase_{};                ///< phase of each sinusoid at step 0
  Row re_{}, im_{};            ///< real and imaginary part of each sinusoid at the step after the last computed stretch
  Row step_re_{}, step_im_{};  ///< rotation of each sinusoid in one step, as a complex factor
  std::uint64_t at_ = 0;       ///< number of the step that follows the last computed stretch
  std::uint64_t first_ = UINT64_MAX;  ///< first step of the last computed stretch
  Gains gains_;                       ///< gains of the last computed stretch
};

/// Array with one value, such as a fading power or an SNR, for each of the `Fading::stretch` consecutive steps (TTIs)
/// that are computed at once.
using FadingStretch = std::array<double, Fading::stretch>;

}  // namespace sluice::emulator

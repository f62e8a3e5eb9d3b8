#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emulator/channel/fading.hpp"

namespace sluice::emulator {

/// Link budget of a UE: its Node-B's power and the interference, in linear units.
struct LinkBudget {
  /// Largest error of snr_about() in dB. It is fifty times the error that results from cutting off the series of the
  /// logarithm and the exponential function.
  static constexpr double tolerance_db = 1e-3;

  double mean_gain = 0;      ///< linear path gain without fading and shadowing
  double power_mw = 0;       ///< transmitted power
  double intra_cell_mw = 0;  ///< power of the own cell's interfering signals at the transmitter, before the path loss
  double inter_cell_mw = 0;  ///< power of other cells' signals at the UE

  /// Returns the chip-level SNR in dB at an attenuation of `shadowing_db` and a relative fading power of `fading`.
  [[nodiscard]] double snr_db(double shadowing_db, double fading) const {
    const double gain = mean_gain * std::exp(-shadowing_db * (std::numbers::ln10 / 10)) * at_least(fading);
    return 10 * std::log10(power_mw * gain / (intra_cell_mw * gain + inter_cell_mw));
  }
  /// Returns the SNR of each step of a stretch (Fading::stretch steps) in dB, with an error of at most tolerance_db.
  /// This takes a tenth of the time of snr_db(). Valid for SNRs from -1000 to 1000 dB.
  [[nodiscard]] FadingStretch snr_about(const FadingStretch& shadowing_db, const FadingStretch& fading) const;

 private:
  /// Returns the fading power, but at least min_fading_power, because zero has no logarithm.
  [[nodiscard]] static double at_least(double fading) { return std::max(fading, min_fading_power); }
};

}  // namespace sluice::emulator

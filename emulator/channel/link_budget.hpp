#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emulator/channel/fading.hpp"

namespace sluice::emulator {

/// What of a Node-B's power reaches a UE beside what disturbs it, in linear numbers.
struct LinkBudget {
  /// How far what snr_about() says may be off, dB: fifty times what its series leave out.
  static constexpr double tolerance_db = 1e-3;

  double mean_gain = 0;      ///< of the path without fading and shadowing
  double power_mw = 0;       ///< transmitted
  double intra_cell_mw = 0;  ///< the own cell's interference, as transmitted
  double inter_cell_mw = 0;  ///< other cells' interference, as received

  /// Chip-level SNR in dB where shadowing takes so many dB and fading leaves `fading` of the power.
  [[nodiscard]] double snr_db(double shadowing_db, double fading) const {
    const double gain = mean_gain * std::exp(-shadowing_db * (std::numbers::ln10 / 10)) * at_least(fading);
    return 10 * std::log10(power_mw * gain / (intra_cell_mw * gain + inter_cell_mw));
  }
  /// The same of many, within `tolerance_db`, at a tenth of what that costs. For SNRs between -1000 and 1000 dB.
  [[nodiscard]] FadingStretch snr_about(const FadingStretch& shadowing_db, const FadingStretch& fading) const;

 private:
  [[nodiscard]] static double at_least(double fading) { return std::max(fading, least_fading_power); }
};

}  // namespace sluice::emulator

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/link_budget.hpp"
#include "emulator/channel/multipath.hpp"
#include "emulator/channel/shadowing.hpp"
#include "emulator/link/cqi.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A UE in an HSDPA cell; the defaults are EURANE's, as the SMVS paper uses them.
struct HsdpaParameters {
  double distance_m = 300;                            ///< from the Node-B, 1 … 100 000
  double speed_kmh = 3;                               ///< 0 … 500
  int category = 10;                                  ///< of the UE, 1 … 10
  bool fading = true;                                 ///< Rayleigh with Jakes' spectrum
  MultipathProfile profile = MultipathProfile::flat;  ///< whose echoes the receiver combines
  double shadowing_db = 8;                            ///< standard deviation, 0 … 20; 0 = none
  double shadowing_distance_m = 40;                   ///< correlation distance, > 0
  double power_dbm = 38;                              ///< transmitted
  double antenna_gain_db = 17;
  double intra_cell_dbm = 30;   ///< own cell's interference, as transmitted
  double inter_cell_dbm = -70;  ///< other cells' interference, as received
  int cqi_delay = 3;            ///< TTIs between measurement and use of a CQI, 0 … 15
  bool block_errors = true;     ///< blocks are lost by the BLER formula; false: every block is received
};

/// SNR in dB at a path loss in dB (fading, shadowing and antenna gain included):
/// P − L − 10·log10(10^((intra−L)/10) + 10^(inter/10)).
[[nodiscard]] double hsdpa_snr_db(const HsdpaParameters& parameters, double path_loss_db);
/// Path loss in dB at the UE's distance: 137.4 + 35.2·log10(d/km) − antenna gain.
[[nodiscard]] double hsdpa_path_loss_db(const HsdpaParameters& parameters);

/// A link whose capacity follows the radio: path loss, shadowing and fading give the SNR, the SNR as it was some TTIs
/// ago gives the CQI, the CQI and the UE's category the transport block, and that a number of 40-byte MAC-d PDUs.
/// Whether the block is received is drawn by the BLER formula at the present SNR.
class HsdpaChannel final : public Channel {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range. `tti`: 2 ms for HSDPA.
  HsdpaChannel(const HsdpaParameters& parameters, Duration tti, const Random& random);
  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;

 protected:
  [[nodiscard]] std::span<const Grant> ahead(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t tti) const override;

 private:
  /// What was measured in a stretch of TTIs.
  struct Measured {
    FadingStretch shadowing_db{};
    FadingStretch fading{};
    FadingStretch snr_about{};  ///< within LinkBudget::tolerance_db, which nearly always tells what is asked
  };
  void measure();
  void measure_cqis(const Measured& measured);
  void judge(std::span<Grant> grants, std::uint64_t first) const;
  [[nodiscard]] bool received_after_all(std::uint64_t measurement, const Grant& grant) const;
  [[nodiscard]] const Measured& stretch_of(std::uint64_t measurement) const {
    return measured_[measurement / Fading::stretch % measured_.size()];
  }
  [[nodiscard]] double snr_db(std::uint64_t measurement) const;

  HsdpaParameters parameters_;
  LinkBudget budget_;
  Multipath fading_;
  Shadowing shadowing_;
  Random errors_;
  std::array<Bytes, link::max_cqi + 1> capacities_{};  ///< of a TTI, by CQI
  std::uint64_t cqi_delay_;                            ///< TTIs; the measurement of TTI n has the number n + cqi_delay_
  std::array<Measured, 2> measured_;                   ///< the newest two stretches
  std::array<std::uint64_t, 2 * Fading::stretch> cqis_{};  ///< of the same measurements
  std::uint64_t measurements_ = 0;
  std::array<Grant, Fading::stretch> grants_{};  ///< of the TTIs in which the newest stretch was measured
};

}  // namespace sluice::emulator

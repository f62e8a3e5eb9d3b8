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

/// Parameters of a UE in an HSDPA cell. The defaults are those of the simulator EURANE, as used by the SMVS paper (Ren
/// and Lin, TMC 2011).
struct HsdpaParameters {
  double distance_m = 300;                            ///< distance from the Node-B, 1 … 100 000
  double speed_kmh = 3;                               ///< speed of the UE, 0 … 500
  int category = 10;                                  ///< HSDPA category of the UE, 1 … 10
  bool fading = true;                                 ///< true: Rayleigh fading with Jakes' spectrum
  MultipathProfile profile = MultipathProfile::flat;  ///< multipath profile; the receiver combines the echoes
  double shadowing_db = 8;                            ///< standard deviation of the shadowing, 0 … 20; 0: none
  double shadowing_distance_m = 40;                   ///< correlation distance of the shadowing, > 0
  double power_dbm = 38;                              ///< transmitted power
  double antenna_gain_db = 17;
  double intra_cell_dbm = 30;  ///< power of the own cell's interfering signals at the transmitter, before the path loss
  double inter_cell_dbm = -70;  ///< power of other cells' signals at the UE
  int cqi_delay = 3;            ///< TTIs between measurement and use of a CQI, 0 … 15
  bool block_errors = true;     ///< true: blocks are lost by the BLER formula; false: every block is received
};

/// Returns the SNR in dB: P − L − 10·log10(10^((intra−L)/10) + 10^(inter/10)). P is the transmitted power in dBm, and L
/// (`path_loss_db`) the path loss in dB, with fading, shadowing and antenna gain. The terms intra and inter are the
/// parameters intra_cell_dbm and inter_cell_dbm.
[[nodiscard]] double hsdpa_snr_db(const HsdpaParameters& parameters, double path_loss_db);
/// Returns the path loss in dB at the UE's distance: 137.4 + 35.2·log10(d/km) − antenna gain.
[[nodiscard]] double hsdpa_path_loss_db(const HsdpaParameters& parameters);

/// An HSDPA link. Path loss, shadowing and fading determine the SNR, and the SNR some TTIs ago determines the CQI. CQI
/// and UE category determine the transport block, which carries whole 40-byte MAC-d PDUs. A block is lost at random,
/// with the BLER formula's probability at the current SNR.
class HsdpaChannel final : public Channel {
 public:
  /// Creates the link; `tti` is 2 ms for HSDPA. Throws std::invalid_argument if a parameter is out of its range.
  HsdpaChannel(const HsdpaParameters& parameters, Duration tti, const Random& random);
  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;

 protected:
  [[nodiscard]] std::span<const LinkGrant> ahead(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t tti) const override;

 private:
  /// Shadowing, fading and approximate SNR in one stretch of Fading::stretch TTIs.
  struct Measured {
    FadingStretch shadowing_db{};  ///< attenuation by shadowing
    FadingStretch fading{};        ///< relative fading power
    /// SNR in dB with an error of at most LinkBudget::tolerance_db, which is nearly always exact enough.
    FadingStretch snr_about{};
  };
  /// Measures the SNR of the next stretch (Fading::stretch TTIs) and computes the CQIs from it.
  void measure();
  void measure_cqis(const Measured& measured);
  void judge(std::span<LinkGrant> grants, std::uint64_t first) const;
  [[nodiscard]] bool received_after_all(std::uint64_t measurement, const LinkGrant& grant) const;
  /// Returns the stretch of TTIs that contains measurement number `measurement`.
  [[nodiscard]] const Measured& stretch_of(std::uint64_t measurement) const {
    return measured_[measurement / Fading::stretch % measured_.size()];
  }
  /// Returns the exact SNR of measurement number `measurement`.
  [[nodiscard]] double snr_db(std::uint64_t measurement) const;

  HsdpaParameters parameters_;
  LinkBudget budget_;
  Multipath fading_;
  Shadowing shadowing_;
  Random errors_;
  std::array<Bytes, link::max_cqi + 1> capacities_{};  ///< bytes that a TTI carries, by CQI
  std::uint64_t cqi_delay_;  ///< CQI delay in TTIs; the CQI of TTI n is from the SNR measured `cqi_delay_` TTIs earlier
  std::array<Measured, 2> measured_;  ///< the two newest stretches
  /// CQIs measured in the two newest stretches of TTIs.
  std::array<std::uint64_t, 2 * Fading::stretch> cqis_{};
  std::uint64_t measurements_ = 0;                   ///< number of measurements so far
  std::array<LinkGrant, Fading::stretch> grants_{};  ///< grants of the TTIs of the newest stretch
};

}  // namespace sluice::emulator

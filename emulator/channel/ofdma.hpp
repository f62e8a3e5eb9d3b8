#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/multipath.hpp"
#include "emulator/channel/shadowing.hpp"
#include "emulator/link/cqi_table.hpp"
#include "emulator/link/outer_loop.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Parameters of a UE in an LTE or NR cell.
struct OfdmaParameters {
  double mean_snr_db = 12;  ///< mean SNR before shadowing, −30 … 60
  double speed_kmh = 3;     ///< speed of the UE, 0 … 500
  link::CqiTable table = link::CqiTable::qam64;
  MultipathProfile profile = MultipathProfile::pedestrian_b;
  bool fading = true;                ///< true: Rayleigh fading with Jakes' spectrum
  double shadowing_db = 0;           ///< standard deviation of the shadowing, 0 … 20; 0: none
  double shadowing_distance_m = 40;  ///< correlation distance of the shadowing, > 0
  int cqi_delay = 6;                 ///< TTIs between measurement and use of a CQI, 0 … 15

  /// Share of the resource elements that control and reference signals take, 0 … 0.9: about 0.25 in LTE, 0.14 in NR (TS
  /// 38.306).
  double overhead = 0.25;
  bool block_errors = true;  ///< false: every block is received

  /// Block error rate of first transmissions that an outer loop maintains, 0.001 … 0.5; absent: no outer loop. Requires
  /// block errors.
  std::optional<double> target_bler = std::nullopt;
  /// Resource blocks of the cell, > 0: 100 for 20 MHz of LTE, 51 for 20 MHz of NR at 30 kHz.
  std::uint32_t resource_blocks = 100;
};

/// A link of LTE (1 ms TTI) or NR (0.5 ms TTI at 30 kHz). Fading and shadowing determine the wideband SNR. The SNR some
/// TTIs ago determines the CQI, which determines how many bits a resource block carries. The grant is for all N
/// resource blocks; n blocks carry n/N of it.
///
/// The outer loop of link adaptation evaluates a block in every TTI, whether or not the UE is served. So the link is a
/// function of the TTI number alone.
class OfdmaChannel final : public SteppedChannel {
 public:
  /// Creates the link. Throws std::invalid_argument if a parameter is out of its range.
  OfdmaChannel(const OfdmaParameters& parameters, Duration tti, const Random& random);
  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return quality_; }

 private:
  double measure();
  [[nodiscard]] int choose_cqi();

  OfdmaParameters parameters_;
  Multipath fading_;
  Shadowing shadowing_;
  Random errors_;
  std::array<double, 16> measured_{};  ///< ring buffer of the newest SNRs, dB
  std::uint64_t measurements_ = 0;
  RadioQuality quality_;                  ///< reported and present SNR of the latest TTI
  std::optional<link::OuterLoop> outer_;  ///< outer loop of link adaptation, if configured
};

}  // namespace sluice::emulator

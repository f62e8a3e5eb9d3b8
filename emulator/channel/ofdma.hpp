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

/// A UE in an LTE or NR cell.
struct OfdmaParameters {
  double mean_snr_db = 12;  ///< −30 … 60, before shadowing
  double speed_kmh = 3;     ///< 0 … 500
  link::CqiTable table = link::CqiTable::qam64;
  MultipathProfile profile = MultipathProfile::pedestrian_b;
  bool fading = true;
  double shadowing_db = 0;           ///< standard deviation, 0 … 20
  double shadowing_distance_m = 40;  ///< correlation distance, > 0
  int cqi_delay = 6;                 ///< TTIs between measurement and use of a CQI, 0 … 15
  double overhead = 0.25;  ///< control and reference signals: about 0.25 in LTE, 0.14 in NR (TS 38.306), 0 … 0.9
  bool block_errors = true;
  /// Share of the first transmissions that may be lost, which an outer loop keeps, 0.001 … 0.5; none when not set.
  /// Needs block errors.
  std::optional<double> target_bler = std::nullopt;
  std::uint32_t resource_blocks = 100;  ///< of the cell, > 0: 100 for 20 MHz of LTE, 51 for 20 MHz of NR at 30 kHz
};

/// A link of LTE (1 ms TTI) or NR (0.5 ms at 30 kHz): fading and shadowing give the wideband SNR, the SNR as it was
/// some TTIs ago the CQI, and the CQI what a resource block carries. An outer loop follows the fate of the block of
/// every TTI, as CLAMP's margin does, not only of those in which the UE is served; so the link stays a function of the
/// TTI. The grant is that of all resource blocks; n of N carry n/N.
class OfdmaChannel final : public SteppedChannel {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  OfdmaChannel(const OfdmaParameters& parameters, Duration tti, const Random& random);
  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;

 protected:
  Grant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return quality_; }

 private:
  double measure();
  [[nodiscard]] int choose_cqi();

  OfdmaParameters parameters_;
  Multipath fading_;
  Shadowing shadowing_;
  Random errors_;
  std::array<double, 16> measured_{};  ///< ring of the newest SNRs
  std::uint64_t measurements_ = 0;
  RadioQuality quality_;  ///< in the latest step
  std::optional<link::OuterLoop> outer_;
};

}  // namespace sluice::emulator

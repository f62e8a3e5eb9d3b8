#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A slot of 1xEV-DO: 1/600 s.
inline constexpr Duration evdo_slot = Duration(1'666'667);

/// A rate of the downlink and the SNR in dB from which it is used (Bender et al., IEEE Communications Magazine 2000).
struct EvdoRate {
  double kbps;
  double snr_db;
};
/// Lowest first. 102.4 kb/s is printed as 102.6 in the Window Regulator paper; 1024 bits in 6 slots make 102.4.
inline constexpr std::array<EvdoRate, 11> evdo_rates = {{{38.4, -12.5},
                                                         {76.8, -9.5},
                                                         {102.4, -8.5},
                                                         {153.6, -6.5},
                                                         {204.8, -5.7},
                                                         {307.2, -4.0},
                                                         {614.4, -1.0},
                                                         {921.6, 1.3},
                                                         {1228.8, 3.0},
                                                         {1843.2, 7.2},
                                                         {2457.6, 9.5}}};
/// The rate at an SNR; zero below the lowest.
[[nodiscard]] Rate evdo_rate(double snr_db);

/// A UE in a 1xEV-DO (HDR) cell, as in the Window Regulator paper.
struct EvdoParameters {
  double mean_snr_db = 4;  ///< −30 … 60
  double speed_kmh = 3;    ///< 0 … 500; the paper gives none
  bool fading = true;      ///< Rayleigh with Jakes' spectrum
};

/// The UE asks for the rate that its SNR carries, slot by slot, and always gets it across.
class EvdoChannel final : public SteppedChannel {
 public:
  /// `slot`: evdo_slot. Throws std::invalid_argument when a parameter is out of its range.
  EvdoChannel(const EvdoParameters& parameters, Duration slot, const Random& random);

 protected:
  Grant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return quality_; }

 private:
  EvdoParameters parameters_;
  double slot_s_;
  Fading fading_;
  double fraction_ = 0;   ///< of a byte, from the slots before
  RadioQuality quality_;  ///< in the latest step
};

}  // namespace sluice::emulator

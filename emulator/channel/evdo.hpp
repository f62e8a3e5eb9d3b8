#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Length of a 1xEV-DO slot: 1/600 s.
inline constexpr Duration evdo_slot = Duration(1'666'667);

/// A downlink rate and the lowest SNR in dB at which it is used (Bender et al., IEEE Communications Magazine 2000).
struct EvdoRate {
  double kbps;
  double snr_db;
};
/// Downlink rates of 1xEV-DO in ascending order. The Window Regulator paper (Chan and Ramjee, INFOCOM 2004) prints
/// 102.6 kb/s for the second one. It is 102.4 kb/s here: 1024 bits in 6 slots.
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
/// Returns the rate used at an SNR of `snr_db` dB; zero below the lowest threshold of `evdo_rates`.
[[nodiscard]] Rate evdo_rate(double snr_db);

/// Parameters of a UE in a 1xEV-DO (HDR) cell, as in the Window Regulator paper (Chan and Ramjee, INFOCOM 2004).
struct EvdoParameters {
  double mean_snr_db = 4;  ///< mean SNR, −30 … 60
  double speed_kmh = 3;    ///< speed of the UE, 0 … 500; the Window Regulator paper states none
  bool fading = true;      ///< true: Rayleigh fading with Jakes' spectrum
};

/// A 1xEV-DO link: each slot carries the rate that its SNR allows, and no block is lost.
class EvdoChannel final : public SteppedChannel {
 public:
  /// Creates the link; `slot` is the length of a slot, evdo_slot in a real 1xEV-DO network. Throws
  /// std::invalid_argument if a parameter is out of its range.
  EvdoChannel(const EvdoParameters& parameters, Duration slot, const Random& random);

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return quality_; }

 private:
  EvdoParameters parameters_;
  double slot_s_;  ///< length of a slot in seconds
  Fading fading_;
  double fraction_ = 0;  ///< fraction of a byte that earlier slots did not carry
  /// SNR in dB of the latest slot.
  RadioQuality quality_;
};

}  // namespace sluice::emulator

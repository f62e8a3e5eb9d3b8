#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/trace.hpp"

namespace sluice::emulator {

/// A cellular-like link. The defaults give swings like those of published LTE traces (coefficient of variation about
/// 0.6 over 100 ms, 0.5 over 1 s).
struct TraceParameters {
  Rate mean = Rate::bits_per_second(5e6);            ///< of the whole trace, outages included; 0.1 … 1000 Mb/s
  double speed_kmh = 3;                              ///< of the UE, 0 < speed <= 500: how fast it fades
  double mean_snr_db = 3;                            ///< −10 … 40: the lower, the wider the swings of the rate
  double shadowing_db = 6;                           ///< standard deviation of the slow swings, 0 … 20
  Duration outage_every = std::chrono::seconds(20);  ///< mean time between outages; 0 = none
  Duration outage_min = std::chrono::milliseconds(300);
  Duration outage_max = std::chrono::milliseconds(1500);
};

/// Writes a trace with the emulator's own fading model: the link's rate is Shannon's log2(1 + SNR) under Rayleigh
/// fading and shadowing, scaled to the mean, with an outage now and then. `duration`: 1 s … 24 h. Same parameters and
/// seed, same trace. Throws std::invalid_argument when a parameter is out of its range.
[[nodiscard]] CapacityTrace generate_trace(const TraceParameters& parameters, std::uint64_t seed, Duration duration);

}  // namespace sluice::emulator

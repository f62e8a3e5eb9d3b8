#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/trace.hpp"

namespace sluice::emulator {

/// Parameters of a synthetic cellular link. With the defaults, rates vary like published LTE traces: coefficient of
/// variation about 0.6 over 100 ms, 0.5 over 1 s.
struct TraceParameters {
  Rate mean = Rate::bits_per_second(5e6);  ///< mean rate of the whole trace, outages included; 0.1 … 1000 Mb/s
  double speed_kmh = 3;                    ///< speed of the UE, which sets the fading rate; above 0, at most 500
  double mean_snr_db = 3;                  ///< mean SNR, −10 … 40; a lower one gives wider variations of the rate
  double shadowing_db = 6;                 ///< standard deviation of the shadowing, 0 … 20
  Duration outage_every = std::chrono::seconds(20);       ///< mean time between outages; 0: none
  Duration outage_min = std::chrono::milliseconds(300);   ///< shortest outage
  Duration outage_max = std::chrono::milliseconds(1500);  ///< longest outage
};

/// Generates a trace with the emulator's fading model. The rate is Shannon's log2(1 + SNR) under Rayleigh fading and
/// shadowing, scaled to the mean, with random outages. `duration` must be 1 s … 24 h. Equal parameters and seed give an
/// equal trace. Throws std::invalid_argument if a parameter is out of its range.
[[nodiscard]] CapacityTrace generate_trace(const TraceParameters& parameters, std::uint64_t seed, Duration duration);

}  // namespace sluice::emulator

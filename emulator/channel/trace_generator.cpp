// Implements generate_trace(): a synthetic cellular trace from fading, shadowing and random outages. The program and
// experiments use it where no recorded trace is available. Rates are drawn for every millisecond and scaled to the
// mean, then converted to opportunities by a credit counter. The result depends on the parameters and the seed only.

#include "emulator/channel/trace_generator.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "emulator/channel/fading.hpp"
#include "emulator/channel/range_check.hpp"
#include "emulator/channel/shadowing.hpp"

namespace sluice::emulator {
namespace {

constexpr Duration millisecond = std::chrono::milliseconds(1);
/// Correlation distance of the shadowing in m. 40 m is Gudmundson's value between buildings, which the simulator EURANE
/// uses.
constexpr double shadowing_distance = 40;

void check(const TraceParameters& p, Duration duration) {
  constexpr RangeCheck require{"trace generator"};
  require(p.mean.bps() >= 1e5 && p.mean.bps() <= 1e9, "the mean rate must be 0.1 to 1000 Mb/s");
  require(p.speed_kmh > 0 && p.speed_kmh <= 500, "the speed must be above 0 and at most 500 km/h");
  require(p.mean_snr_db >= -10 && p.mean_snr_db <= 40, "the mean SNR must be -10 to 40 dB");
  require(p.shadowing_db >= 0 && p.shadowing_db <= 20, "the shadowing must be 0 to 20 dB");
  require(p.outage_every >= Duration::zero(), "the time between outages must not be negative");
  require(p.outage_min >= Duration::zero() && p.outage_max >= p.outage_min, "outages: expected 0 <= min <= max");
  require(p.outage_every == Duration::zero() || p.outage_every > p.outage_max,
          "the mean time between outages must be longer than an outage");
  require(duration >= std::chrono::seconds(1) && duration <= std::chrono::hours(24), "the duration: 1 s to 24 h");
}

/// Returns the link's rate in each millisecond, in arbitrary units; the caller scales the rates to the configured mean.
std::vector<double> draw_rates(const TraceParameters& p, std::uint64_t seed, std::size_t milliseconds) {
  Fading fading(doppler_hz(p.speed_kmh), millisecond, Random::stream(seed, "trace fading"));
  Shadowing shadowing(p.speed_kmh / 3.6, millisecond, p.shadowing_db, shadowing_distance,
                      Random::stream(seed, "trace shadowing"));
  std::vector<double> rates(milliseconds);
  for (std::size_t i = 0; i < milliseconds; ++i, shadowing.step()) {
    const double snr = std::pow(10, (p.mean_snr_db + shadowing.db()) / 10) * fading.power(i);
    rates[i] = std::log2(1 + snr);
  }
  return rates;
}

/// Sets the rate to zero during random outages, as in a tunnel, a handover or a lift.
void cut_outages(std::vector<double>& rates, const TraceParameters& p, std::uint64_t seed) {
  if (p.outage_every == Duration::zero()) return;
  Random random = Random::stream(seed, "trace outages");
  const double gap = to_milliseconds(p.outage_every) - to_milliseconds(p.outage_min + p.outage_max) / 2;
  const auto end = static_cast<double>(rates.size());
  for (double at = random.exponential(gap); at < end; at += random.exponential(gap)) {
    const double until = at + random.uniform(to_milliseconds(p.outage_min), to_milliseconds(p.outage_max));
    const auto last = static_cast<std::size_t>(std::min(until, end));
    std::fill(rates.begin() + static_cast<std::ptrdiff_t>(at), rates.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
    at = until;
  }
}

}  // namespace

CapacityTrace generate_trace(const TraceParameters& parameters, std::uint64_t seed, Duration duration) {
  check(parameters, duration);
  const auto milliseconds = static_cast<std::size_t>(duration / millisecond);
  std::vector<double> rates = draw_rates(parameters, seed, milliseconds);
  cut_outages(rates, parameters, seed);

  double total = 0;
  for (const double rate : rates) total += rate;
  const double opportunities = parameters.mean.bytes_per_second() * to_seconds(duration) /
                               static_cast<double>(CapacityTrace::opportunity.count());
  const double scale = total > 0 ? opportunities / total : 0;

  std::vector<std::uint32_t> lines;
  lines.reserve(static_cast<std::size_t>(opportunities) + 1);
  double credit = 0;
  for (std::size_t i = 0; i < milliseconds; ++i) {
    for (credit += rates[i] * scale; credit >= 1; credit -= 1) lines.push_back(static_cast<std::uint32_t>(i + 1));
  }
  // The last line is the period, so it must be present even if the trace ends in an outage.
  if (lines.empty() || lines.back() != milliseconds) lines.push_back(static_cast<std::uint32_t>(milliseconds));
  return CapacityTrace(std::move(lines), "generated trace");
}

}  // namespace sluice::emulator

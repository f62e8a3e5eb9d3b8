#include "emulator/channel/multipath.hpp"

#include <cmath>
#include <span>

namespace sluice::emulator {
namespace {

// Average powers of the taps in dB (ITU-R M.1225 annex 2 tables 4 and 5, channel A or B).
constexpr double flat_db[] = {0};
constexpr double pedestrian_a_db[] = {0, -9.7, -19.2, -22.8};
constexpr double pedestrian_b_db[] = {0, -0.9, -4.9, -8.0, -7.8, -23.9};
constexpr double vehicular_a_db[] = {0, -1.0, -9.0, -10.0, -15.0, -20.0};

std::span<const double> taps_of(MultipathProfile profile) {
  switch (profile) {
    case MultipathProfile::flat:
      break;
    case MultipathProfile::pedestrian_a:
      return pedestrian_a_db;
    case MultipathProfile::pedestrian_b:
      return pedestrian_b_db;
    case MultipathProfile::vehicular_a:
      return vehicular_a_db;
  }
  return flat_db;
}

}  // namespace

Multipath::Multipath(MultipathProfile profile, double doppler, Duration interval, const Random& random) {
  const std::span<const double> taps = taps_of(profile);
  double sum = 0;
  for (const double db : taps) sum += std::pow(10, db / 10);
  taps_.reserve(taps.size());
  for (std::size_t i = 0; i < taps.size(); ++i) {
    taps_.push_back({std::pow(10, taps[i] / 10) / sum, Fading(doppler, interval, random.split("fading", i))});
  }
}

}  // namespace sluice::emulator

#include "emulator/channel/evdo.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {
namespace {

const EvdoParameters& checked(const EvdoParameters& p) {
  if (!(p.mean_snr_db >= -30 && p.mean_snr_db <= 60)) {
    throw std::invalid_argument("EV-DO channel: the mean SNR must be -30 to 60 dB");
  }
  if (!(p.speed_kmh >= 0 && p.speed_kmh <= 500)) {
    throw std::invalid_argument("EV-DO channel: the speed must be 0 to 500 km/h");
  }
  return p;
}

}  // namespace

Rate evdo_rate(double snr_db) {
  Rate rate;
  for (const EvdoRate& entry : evdo_rates) {
    if (snr_db >= entry.snr_db) rate = Rate::bits_per_second(entry.kbps * 1000);
  }
  return rate;
}

EvdoChannel::EvdoChannel(const EvdoParameters& parameters, Duration slot, const Random& random)
    : parameters_(checked(parameters)),
      slot_s_(to_seconds(slot)),
      fading_(doppler_hz(parameters.speed_kmh), slot, random.split("fading")) {}

LinkGrant EvdoChannel::step(std::uint64_t tti) {
  LinkGrant grant;
  double snr_db = parameters_.mean_snr_db;
  if (parameters_.fading) snr_db += 10 * std::log10(std::max(fading_.power(tti), 1e-12));
  quality_ = {snr_db, snr_db};
  const double bytes = evdo_rate(snr_db).bytes_per_second() * slot_s_;
  if (bytes > 0) {
    constexpr double rounding = 1e-3;  // because the slot in nanoseconds differs from 1/600 s by a third of one
    const double whole = std::floor(bytes + fraction_ + rounding);
    fraction_ = std::max(0.0, bytes + fraction_ - whole);
    grant.capacity = Bytes(whole);
  }
  return grant;
}

}  // namespace sluice::emulator

#include "emulator/channel/hsdpa.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "emulator/channel/range_check.hpp"

namespace sluice::emulator {
namespace {

double linear(double db) {
  return std::pow(10, db / 10);
}

const HsdpaParameters& checked(const HsdpaParameters& p) {
  constexpr RangeCheck require{"HSDPA channel"};
  require(p.distance_m >= 1 && p.distance_m <= 100'000, "the distance must be 1 to 100 000 m");
  require(p.speed_kmh >= 0 && p.speed_kmh <= 500, "the speed must be 0 to 500 km/h");
  require(p.category >= 1 && p.category <= 10, "the UE category must be 1 to 10");
  require(p.shadowing_db >= 0 && p.shadowing_db <= 20, "the shadowing must be 0 to 20 dB");
  require(p.shadowing_distance_m > 0, "the correlation distance of the shadowing must be above 0 m");
  require(std::isfinite(p.power_dbm) && std::isfinite(p.antenna_gain_db) && std::isfinite(p.intra_cell_dbm) &&
              std::isfinite(p.inter_cell_dbm),
          "powers and gains must be finite");
  require(p.cqi_delay >= 0 && p.cqi_delay <= 15, "the CQI delay must be 0 to 15 TTIs");
  return p;
}

}  // namespace

double hsdpa_path_loss_db(const HsdpaParameters& parameters) {
  return 137.4 + 35.2 * std::log10(parameters.distance_m / 1000) - parameters.antenna_gain_db;
}

double hsdpa_snr_db(const HsdpaParameters& parameters, double path_loss_db) {
  const double intra = linear(parameters.intra_cell_dbm - path_loss_db);
  const double inter = linear(parameters.inter_cell_dbm);
  return parameters.power_dbm - path_loss_db - 10 * std::log10(intra + inter);
}

HsdpaChannel::HsdpaChannel(const HsdpaParameters& parameters, Duration tti, const Random& random)
    : parameters_(checked(parameters)),
      mean_gain_(linear(-hsdpa_path_loss_db(parameters))),
      power_mw_(linear(parameters.power_dbm)),
      intra_cell_mw_(linear(parameters.intra_cell_dbm)),
      inter_cell_mw_(linear(parameters.inter_cell_dbm)),
      fading_(parameters.profile, doppler_hz(parameters.speed_kmh), tti, random),
      shadowing_(parameters.speed_kmh / 3.6, tti, parameters.shadowing_db, parameters.shadowing_distance_m,
                 random.split("shadowing")),
      errors_(random.split("block errors")) {
  for (int cqi = 0; cqi <= link::max_cqi; ++cqi) {
    const int bits = link::transport_block_bits(cqi, parameters_.category);
    capacities_[static_cast<std::size_t>(cqi)] = link::pdu_size * link::pdus(bits);
  }
  // The link has been up before the run begins: the first TTIs have CQIs to use.
  for (int i = 0; i < parameters_.cqi_delay; ++i) measure();
}

double HsdpaChannel::measure() {
  // This is hsdpa_snr_db() in linear numbers: half of a simulation's time would go into its logarithms.
  double gain = mean_gain_;
  if (parameters_.shadowing_db > 0) {
    gain *= std::exp(-shadowing_.db() * (std::numbers::ln10 / 10));
    shadowing_.step();
  }
  if (parameters_.fading) gain *= std::max(fading_.power(measurements_), least_fading_power);
  const double snr = 10 * std::log10(power_mw_ * gain / (intra_cell_mw_ * gain + inter_cell_mw_));
  measured_[measurements_++ % measured_.size()] = snr;
  return snr;
}

Grant HsdpaChannel::step(std::uint64_t /*tti*/) {
  Grant grant;
  grant.snr_db = measure();
  const auto delay = static_cast<std::uint64_t>(parameters_.cqi_delay);
  grant.quality_db = measured_[(measurements_ - 1 - delay) % measured_.size()];
  const int cqi = link::cqi_of(grant.quality_db);
  grant.cqi = static_cast<std::uint8_t>(cqi);
  grant.capacity = capacities_[static_cast<std::size_t>(cqi)];
  // Drawn in every TTI, so that whether a block is received does not depend on who was served before.
  grant.draw = errors_.uniform();
  if (parameters_.block_errors && cqi > 0) grant.received = link::block_received(grant.snr_db, cqi, grant.draw);
  return grant;
}

double HsdpaChannel::error_rate(double snr_db, std::uint8_t cqi) const {
  return parameters_.block_errors && cqi > 0 ? link::block_error_rate(snr_db, cqi) : 0;
}

}  // namespace sluice::emulator

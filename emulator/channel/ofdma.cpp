#include "emulator/channel/ofdma.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "emulator/channel/range_check.hpp"

namespace sluice::emulator {
namespace {

const OfdmaParameters& checked(const OfdmaParameters& p) {
  constexpr RangeCheck require{"LTE/NR channel"};
  require(p.mean_snr_db >= -30 && p.mean_snr_db <= 60, "the mean SNR must be -30 to 60 dB");
  require(p.speed_kmh >= 0 && p.speed_kmh <= 500, "the speed must be 0 to 500 km/h");
  require(p.shadowing_db >= 0 && p.shadowing_db <= 20, "the shadowing must be 0 to 20 dB");
  require(p.shadowing_distance_m > 0, "the correlation distance of the shadowing must be above 0 m");
  require(p.cqi_delay >= 0 && p.cqi_delay <= 15, "the CQI delay must be 0 to 15 TTIs");
  require(p.overhead >= 0 && p.overhead <= 0.9, "the overhead must be 0 to 0.9");
  require(!p.target_bler || p.block_errors, "a target error rate needs block errors");
  require(p.resource_blocks > 0 && p.resource_blocks <= 1000, "there must be 1 to 1000 resource blocks");
  return p;
}

}  // namespace

OfdmaChannel::OfdmaChannel(const OfdmaParameters& parameters, Duration tti, const Random& random)
    : parameters_(checked(parameters)),
      fading_(parameters.profile, doppler_hz(parameters.speed_kmh), tti, random),
      shadowing_(parameters.speed_kmh / 3.6, tti, parameters.shadowing_db, parameters.shadowing_distance_m,
                 random.split("shadowing")),
      errors_(random.split("block errors")) {
  if (parameters_.target_bler) outer_.emplace(*parameters_.target_bler);
  for (int i = 0; i < parameters_.cqi_delay; ++i) measure();
}

/// Measures the SNR of the next TTI.
double OfdmaChannel::measure() {
  double snr = parameters_.mean_snr_db - shadowing_.db();
  shadowing_.step();
  if (parameters_.fading) snr += 10 * std::log10(std::max(fading_.power(measurements_), min_fading_power));
  measured_[measurements_++ % measured_.size()] = snr;
  return snr;
}

/// Returns the CQI for the next block. The outer loop of link adaptation never lowers the CQI to 0 (out of range). At
/// CQI 0 no block is sent, so no outcome could raise the CQI again.
int OfdmaChannel::choose_cqi() {
  const int reported = link::table_cqi_of(parameters_.table, quality_.reported_db);
  if (!outer_) return reported;
  outer_->begin_tti();
  if (reported == 0) return 0;
  return std::max(1, link::table_cqi_of(parameters_.table, quality_.reported_db + outer_->offset_db()));
}

LinkGrant OfdmaChannel::step(std::uint64_t /*tti*/) {
  LinkGrant grant;
  quality_.present_db = measure();
  const auto delay = static_cast<std::uint64_t>(parameters_.cqi_delay);
  quality_.reported_db = measured_[(measurements_ - 1 - delay) % measured_.size()];
  const int cqi = choose_cqi();
  grant.cqi = static_cast<std::uint8_t>(cqi);
  grant.draw = errors_.uniform();
  if (cqi == 0) return grant;
  grant.capacity =
      Bytes(link::resource_block_bits(parameters_.table, cqi, parameters_.resource_blocks, parameters_.overhead) / 8);
  grant.received = grant.draw >= error_rate(quality_.present_db, grant.cqi);
  if (outer_) {
    const double adapted_db = quality_.reported_db + outer_->offset_db();
    outer_->sent(grant.received, adapted_db < link::threshold_db(parameters_.table, link::max_table_cqi),
                 adapted_db >= link::threshold_db(parameters_.table, 1));
  }
  return grant;
}

double OfdmaChannel::error_rate(double snr_db, std::uint8_t cqi) const {
  return parameters_.block_errors && cqi > 0 ? link::table_error_rate(parameters_.table, snr_db, cqi) : 0;
}

}  // namespace sluice::emulator

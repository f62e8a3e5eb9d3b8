// Implements HsdpaChannel: path loss, shadowing and fading give the SNR, and CQI tables the transport block (EURANE).
// Channel reads its TTIs through ahead(), one stretch of 16 at a time. CQIs and block errors are first derived from an
// SNR within 0.001 dB; only where that leaves two results possible, the exact SNR is computed. So results equal those
// of the exact formulas. All random numbers are drawn in every TTI, whether the UE is served or not.

#include "emulator/channel/hsdpa.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "emulator/channel/range_check.hpp"

namespace sluice::emulator {
namespace {

/// Converts dB to a power ratio.
double linear(double db) {
  return std::pow(10, db / 10);
}

/// Table that decides from the approximate SNR of a block whether the block is received. The table gives no result if
/// the error of the approximate SNR could change the decision.
const link::Receptions receptions(LinkBudget::tolerance_db);

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
      budget_{linear(-hsdpa_path_loss_db(parameters)), linear(parameters.power_dbm), linear(parameters.intra_cell_dbm),
              linear(parameters.inter_cell_dbm)},
      fading_(parameters.profile, doppler_hz(parameters.speed_kmh), tti, random),
      shadowing_(parameters.speed_kmh / 3.6, tti, parameters.shadowing_db, parameters.shadowing_distance_m,
                 random.split("shadowing")),
      errors_(random.split("block errors")),
      cqi_delay_(static_cast<std::uint64_t>(parameters.cqi_delay)) {
  for (int cqi = 0; cqi <= link::max_cqi; ++cqi) {
    const int bits = link::transport_block_bits(cqi, parameters_.category);
    capacities_[static_cast<std::size_t>(cqi)] = link::pdu_size * link::pdus(bits);
  }
}

/// Measures the SNR of the next stretch (Fading::stretch TTIs) and computes the CQIs from it.
void HsdpaChannel::measure() {
  Measured& measured = measured_[measurements_ / Fading::stretch % measured_.size()];
  if (parameters_.fading) {
    fading_.powers_from(measurements_, measured.fading);
  } else {
    measured.fading.fill(1);
  }
  if (parameters_.shadowing_db > 0) shadowing_.take(measured.shadowing_db);
  measured.snr_about = budget_.snr_about(measured.shadowing_db, measured.fading);
  measure_cqis(measured);
  measurements_ += Fading::stretch;
}

/// Computes the CQIs of a stretch (Fading::stretch TTIs). The exact SNR is computed only if the approximate one does
/// not determine the CQI.
void HsdpaChannel::measure_cqis(const Measured& measured) {
  const std::span<std::uint64_t, Fading::stretch> cqis(cqis_.data() + measurements_ % cqis_.size(), Fading::stretch);
  if (link::cqis_about(measured.snr_about, LinkBudget::tolerance_db, cqis)) return;
  for (std::size_t step = 0; step < Fading::stretch; ++step) {
    cqis[step] = static_cast<std::uint64_t>(link::cqi_of(snr_db(measurements_ + step)));
  }
}

double HsdpaChannel::snr_db(std::uint64_t measurement) const {
  const Measured& measured = stretch_of(measurement);
  const std::uint64_t step = measurement % Fading::stretch;
  return budget_.snr_db(measured.shadowing_db[step], measured.fading[step]);
}

/// Decides whether blocks first sent in successive TTIs are received, and writes the result to the `grants` of these
/// TTIs. `first` is the number of the SNR measurement of the first TTI.
void HsdpaChannel::judge(std::span<LinkGrant> grants, std::uint64_t first) const {
  const std::span about = std::span(stretch_of(first).snr_about).last(grants.size());
  for (std::size_t i = 0; i < grants.size(); ++i) {
    LinkGrant& grant = grants[i];
    if (grant.cqi == 0 || receptions.surely_received(about[i], grant.cqi, grant.draw)) continue;
    grant.received = received_after_all(first + i, grant);
  }
}

/// Decides whether a block is received, if the table of `receptions` does not show that it certainly is. The exact SNR
/// of measurement number `measurement` is computed only if the approximate one does not determine the result. Few
/// blocks need this decision, so it is a separate function.
[[gnu::noinline]] bool HsdpaChannel::received_after_all(std::uint64_t measurement, const LinkGrant& grant) const {
  const double about = stretch_of(measurement).snr_about[measurement % Fading::stretch];
  const auto received = receptions.received(about, grant.cqi, grant.draw);
  return received ? *received : link::block_received(snr_db(measurement), grant.cqi, grant.draw);
}

/// Measures the SNR of the next stretch (Fading::stretch TTIs) and returns the grants of the TTIs whose SNR is now
/// known. The first call returns fewer grants, because the first measurements precede TTI 0. They determine the CQIs of
/// the first TTIs.
std::span<const LinkGrant> HsdpaChannel::ahead(std::uint64_t tti) {
  measure();
  const std::uint64_t first = tti + cqi_delay_;
  const std::span<LinkGrant> grants(grants_.data(), measurements_ - first);
  // One number is drawn for every TTI, so that reception does not depend on which UE was served before.
  for (LinkGrant& grant : grants) grant.draw = errors_.uniform();
  for (std::size_t i = 0; i < grants.size(); ++i) {
    const auto cqi = static_cast<std::uint8_t>(cqis_[(tti + i) % cqis_.size()]);
    grants[i].capacity = capacities_[cqi];
    grants[i].cqi = cqi;
    grants[i].received = true;
  }
  if (parameters_.block_errors) judge(grants, first);
  return grants;
}

RadioQuality HsdpaChannel::quality_of(std::uint64_t tti) const {
  return {snr_db(tti), snr_db(tti + cqi_delay_)};
}

double HsdpaChannel::error_rate(double snr_db, std::uint8_t cqi) const {
  return parameters_.block_errors && cqi > 0 ? link::block_error_rate(snr_db, cqi) : 0;
}

}  // namespace sluice::emulator

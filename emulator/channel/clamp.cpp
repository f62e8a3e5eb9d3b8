#include "emulator/channel/clamp.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "emulator/channel/range_check.hpp"

namespace sluice::emulator {
namespace {

/// Lower bound of 1−m, where m is the channel's adaptive rate margin.
constexpr double min_back_off = 1e-3;
/// Amount by which ln(1−m) decreases when a packet is lost in all of its transmissions; m is the rate margin. The
/// channel computes its rate from the SNR times 1−m. A decrease by 0.1 therefore has the effect of an SNR that is 0.4
/// dB lower.
constexpr double adaptation_step = 0.1;

const ClampParameters& checked(const ClampParameters& p) {
  constexpr RangeCheck require{"CLAMP channel"};
  require(p.mean_snr_db >= -30 && p.mean_snr_db <= 60, "the mean SNR must be -30 to 60 dB");
  require(p.speed_kmh >= 0 && p.speed_kmh <= 500, "the speed must be 0 to 500 km/h");
  require(p.bandwidth_hz > 0 && p.bandwidth_hz <= 1e9, "the bandwidth must be above 0 and at most 1 GHz");
  require(p.max_rate > Rate() && p.max_rate.bps() <= 1e11, "the largest rate must be above 0 and at most 100 Gb/s");
  require(p.attempts >= 1 && p.attempts <= 100, "there must be 1 to 100 attempts");
  require(p.target > 0 && p.target < 1, "the target must be between 0 and 1");
  return p;
}

/// Converts the power ratio `linear` to dB. The result has a lower bound, because zero has no logarithm.
double db(double linear) {
  return 10 * std::log10(std::max(linear, 1e-12));
}

}  // namespace

ClampChannel::ClampChannel(const ClampParameters& parameters, Duration slot, const Random& random)
    : parameters_(checked(parameters)),
      slot_s_(to_seconds(slot)),
      mean_snr_(std::pow(10, parameters.mean_snr_db / 10)),
      fading_(clamp_doppler_hz(parameters.speed_kmh), slot, random.split("fading")) {}

double ClampChannel::shannon_bits(double snr) const {
  return slot_s_ * parameters_.bandwidth_hz * std::log2(1 + snr);
}

LinkGrant ClampChannel::step(std::uint64_t tti) {
  snr_ = mean_snr_ * fading_.power(tti);
  snr_at_end_ = mean_snr_ * fading_.power(tti + 1);
  const double bits = std::min(shannon_bits(back_off_ * snr_), slot_s_ * parameters_.max_rate.bps());
  LinkGrant grant;
  grant.capacity = Bytes(bits / 8);
  grant.received = bits <= shannon_bits(snr_at_end_);
  adapt(grant.received);
  return grant;
}

RadioQuality ClampChannel::quality_of(std::uint64_t /*tti*/) const {
  return {db(snr_), db(snr_at_end_)};
}

void ClampChannel::adapt(bool received) {
  failed_in_a_row_ = received ? 0 : failed_in_a_row_ + 1;
  if (!received && failed_in_a_row_ < parameters_.attempts) return;
  ++sequences_;
  double change = adaptation_step * parameters_.target / (1 - parameters_.target);
  if (!received) {
    failed_in_a_row_ = 0;
    ++failures_;
    change = -adaptation_step;
  }
  back_off_ = std::clamp(back_off_ * std::exp(change), min_back_off, 1.0);
}

}  // namespace sluice::emulator

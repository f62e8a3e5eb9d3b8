// Implements the HSDPA link tables and formulas: CQI from SNR (EURANE), transport block sizes (TS 25.214) and block
// error rates (Brouwer et al., ISSSTA 2004). HsdpaChannel calls them in every TTI of every UE. Receptions and
// cqis_about() decide from an SNR with a known error bound. They answer only where every SNR within the bound gives the
// same result as the exact formula.

#include "emulator/link/cqi.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>

namespace sluice::emulator::link {
namespace {

constexpr int mac_hs_header_bits = 21;
constexpr int pdu_bits = 320;

/// Transport block sizes in bits of CQI 0 … 22, equal for every category.
constexpr std::array<int, 23> common{0,    137,  173,  233,  317,  377,  461,  650,  792,  931,  1262, 1483,
                                     1742, 2279, 2583, 3319, 3565, 4189, 4664, 5287, 5887, 6554, 7168};
/// Transport block sizes in bits of CQI 23 … 30 of one category.
using Top = std::array<int, 8>;
constexpr Top category_1_to_6{7168, 7168, 7168, 7168, 7168, 7168, 7168, 7168};
constexpr Top category_7_and_8{9719, 11418, 14411, 14411, 14411, 14411, 14411, 14411};
constexpr Top category_9{9719, 11418, 14411, 17300, 17300, 17300, 17300, 17300};
constexpr Top category_10{9719, 11418, 14411, 17300, 21754, 23370, 24222, 25558};

/// Returns the transport block sizes of CQI 23 … 30 for a UE category.
const Top& top_of(int category) {
  if (category <= 6) return category_1_to_6;
  if (category <= 8) return category_7_and_8;
  return category == 9 ? category_9 : category_10;
}

/// Returns the CQI for a chip-level SNR of `snr_db` dB as a real number, before it is rounded down.
double cqi_scale(double snr_db) {
  return snr_db / 1.02 + 16.62;
}

}  // namespace

int cqi_of(double snr_db) {
  if (snr_db <= -16) return 0;
  if (snr_db >= 14) return max_cqi;
  return static_cast<int>(std::floor(cqi_scale(snr_db)));
}

int transport_block_bits(int cqi, int category) {
  if (cqi < 0 || cqi > max_cqi) throw std::out_of_range("CQI: expected 0 to 30, got " + std::to_string(cqi));
  if (category < 1 || category > 10) {
    throw std::out_of_range("UE category: expected 1 to 10, got " + std::to_string(category));
  }
  const auto row = static_cast<std::size_t>(cqi);
  return row < common.size() ? common[row] : top_of(category)[row - common.size()];
}

int pdus(int transport_block_bits) {
  return transport_block_bits > mac_hs_header_bits ? (transport_block_bits - mac_hs_header_bits) / pdu_bits : 0;
}

namespace {

/// Returns the increase of x per dB of SNR at a CQI. x is the variable of the block error rate (e^x + 1)^(−1/0.7).
double slope_of(int cqi) {
  return 2 * std::numbers::ln10 / (std::numbers::sqrt3 - std::log10(cqi));
}

/// Slopes of the block error rate formula at all CQIs, computed once.
const auto slopes = [] {
  std::array<double, max_cqi + 1> all{};
  for (int cqi = 1; cqi <= max_cqi; ++cqi) all[static_cast<std::size_t>(cqi)] = slope_of(cqi);
  return all;
}();

/// Returns the SNR in dB at which x, the variable of the block error rate (e^x + 1)^(−1/0.7), is 0. The constant 17.30
/// is the 5.26 of Brouwer et al. (ISSSTA 2004) plus 10·log10(16) = 12.04 dB. The 12.04 dB are added because the SNR of
/// this model is before despreading.
double middle_of(int cqi) {
  return 1.03 * cqi - 17.30;
}

/// Returns the block error rate (e^x + 1)^(−1/0.7). x grows with the SNR and falls with the CQI.
double rate_of(double x) {
  return x > 700 ? 0 : std::exp(std::log1p(std::exp(x)) / -0.7);  // because e^x overflows above
}

}  // namespace

double block_error_rate(double snr_db, int cqi) {
  return rate_of((snr_db - 1.03 * cqi + 17.30) * slopes[static_cast<std::size_t>(cqi)]);
}

Receptions::Receptions(double error_db) {
  constexpr double lowest = -8;  // x below which nearly every block is lost
  constexpr double step = 0.25;  // step of x; the highest x is 32, with a rate of 1e-20
  rates_.front() = 1;
  for (int i = 0; i <= steps; ++i) rates_[static_cast<std::size_t>(i) + 1] = rate_of(lowest + step * i);
  rates_.back() = 0;
  for (int cqi = 1; cqi <= max_cqi; ++cqi) {
    const double slope = slope_of(cqi) / step;
    const double at_zero = 1 - middle_of(cqi) * slope - lowest / step;
    lines_[static_cast<std::size_t>(cqi)] = {slope, at_zero - error_db * slope, 1 + 2 * error_db * slope};
  }
}

}  // namespace sluice::emulator::link

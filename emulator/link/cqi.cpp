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

/// CQI 0 … 22 are the same for every category.
constexpr std::array<int, 23> common{0,    137,  173,  233,  317,  377,  461,  650,  792,  931,  1262, 1483,
                                     1742, 2279, 2583, 3319, 3565, 4189, 4664, 5287, 5887, 6554, 7168};
/// CQI 23 … 30 by category.
using Top = std::array<int, 8>;
constexpr Top category_1_to_6{7168, 7168, 7168, 7168, 7168, 7168, 7168, 7168};
constexpr Top category_7_and_8{9719, 11418, 14411, 14411, 14411, 14411, 14411, 14411};
constexpr Top category_9{9719, 11418, 14411, 17300, 17300, 17300, 17300, 17300};
constexpr Top category_10{9719, 11418, 14411, 17300, 21754, 23370, 24222, 25558};

const Top& top_of(int category) {
  if (category <= 6) return category_1_to_6;
  if (category <= 8) return category_7_and_8;
  return category == 9 ? category_9 : category_10;
}

/// Each whole number that it reaches is a CQI.
double cqi_scale(double snr_db) {
  return snr_db / 1.02 + 16.62;
}

}  // namespace

int cqi_of(double snr_db) {
  if (snr_db <= -16) return 0;
  if (snr_db >= 14) return max_cqi;
  return static_cast<int>(std::floor(cqi_scale(snr_db)));
}

std::optional<int> cqi_about(double snr_db, double error_db) {
  // Behind the last of the steps, and before the first, nothing changes any more.
  const double place = std::clamp(cqi_scale(snr_db), 0.5, max_cqi + 0.5);
  const int cqi = static_cast<int>(place);
  const double beyond = place - cqi;
  if (beyond > error_db && beyond < 1 - error_db) return cqi;
  return std::nullopt;
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

/// By CQI, what a dB makes of the formula's x.
const auto slopes = [] {
  std::array<double, max_cqi + 1> all{};
  for (int i = 1; i <= max_cqi; ++i) {
    all[static_cast<std::size_t>(i)] = 2 * std::numbers::ln10 / (std::numbers::sqrt3 - std::log10(i));
  }
  return all;
}();

/// The x of the formula written as (e^x + 1)^(−1/0.7).
double exponent(double snr_db, int cqi) {
  // The constant 17.30 is the paper's 5.26 for SNR before despreading: 10·log10(16) = 12.04 dB more.
  return (snr_db - 1.03 * cqi + 17.30) * slopes[static_cast<std::size_t>(cqi)];
}

double rate_of(double x) {
  return x > 700 ? 0 : std::exp(std::log1p(std::exp(x)) / -0.7);  // beyond, there is no e^x
}

/// The rate, which falls with x, at steps of x: nearly every draw is told by what lies around it.
constexpr double lowest = -8;
constexpr double step = 0.25;
constexpr std::size_t intervals = 160;  // up to x = 32, where the rate is 1e-20
const auto rates = [] {
  std::array<double, intervals + 1> all{};
  for (std::size_t i = 0; i <= intervals; ++i) all[i] = rate_of(lowest + step * static_cast<double>(i));
  return all;
}();

/// No less than the rate at x, which is 1 at most.
double upper_bound_of_rate(double x) {
  if (!(x >= lowest)) return 1;
  return rates[static_cast<std::size_t>(std::min((x - lowest) / step, static_cast<double>(intervals)))];
}

/// No more than the rate at x.
double lower_bound_of_rate(double x) {
  if (!(x >= lowest)) return rates.front();
  const double place = (x - lowest) / step;
  return place < static_cast<double>(intervals) ? rates[static_cast<std::size_t>(place) + 1] : 0;
}

}  // namespace

double block_error_rate(double snr_db, int cqi) {
  return rate_of(exponent(snr_db, cqi));
}

std::optional<bool> block_received_about(double snr_db, double error_db, int cqi, double draw) {
  const double x = exponent(snr_db, cqi);
  const double slack = error_db * slopes[static_cast<std::size_t>(cqi)];
  if (draw >= upper_bound_of_rate(x - slack)) return true;
  if (draw < lower_bound_of_rate(x + slack)) return false;
  return std::nullopt;
}

bool block_received(double snr_db, int cqi, double draw) {
  const auto received = block_received_about(snr_db, 0, cqi, draw);
  return received ? *received : draw >= block_error_rate(snr_db, cqi);
}

}  // namespace sluice::emulator::link

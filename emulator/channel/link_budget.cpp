#include "emulator/channel/link_budget.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "emulator/channel/vectors.hpp"

namespace sluice::emulator {
namespace {

constexpr int mantissa_bits = 52;
constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
/// Logarithm to base 2 of the power ratio of 1 dB.
constexpr double log2_of_a_db = std::numbers::ln10 / 10 * std::numbers::log2e;

/// Returns 2^x within a relative error of 3e-6, |x| < 1000. The integer part becomes the exponent, the rest a Taylor
/// series up to the fifth power.
[[gnu::always_inline]] inline double power_of_two(double x) {
  constexpr double to_integer = 0x1.8p52;  // leaves the nearest integer in the lowest bits of a sum with it
  const double shifted = x + to_integer;
  const double y = (x - (shifted - to_integer)) * std::numbers::ln2;
  const double series = 1 + y * (1 + y * (1.0 / 2 + y * (1.0 / 6 + y * (1.0 / 24 + y * (1.0 / 120)))));
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << mantissa_bits;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) + exponent);
}

/// Returns log2(x) within 2e-6, x > 0. The exponent is exact; the mantissa uses the artanh series up to the fifth power
/// around the square root of two.
[[gnu::always_inline]] inline double logarithm(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // The bits of 2^52 with an integer in the mantissa are the double 2^52 plus that integer.
  const double exponent = std::bit_cast<double>((bits >> mantissa_bits) | std::bit_cast<std::uint64_t>(0x1p52));
  const double mantissa = std::bit_cast<double>((bits & mantissa_mask) | std::bit_cast<std::uint64_t>(1.0));
  const double z = (mantissa - std::numbers::sqrt2) / (mantissa + std::numbers::sqrt2);
  const double square = z * z;
  const double series = z * (1 + square * (1.0 / 3 + square * (1.0 / 5)));
  return (exponent - (0x1p52 + 1023)) + (0.5 + series * (2 * std::numbers::log2e));
}

/// Computes the SNR of a stretch (Fading::stretch steps) in a form that compilers can vectorise.
[[gnu::always_inline]] inline FadingStretch reckon(const LinkBudget& budget, const FadingStretch& shadowing_db,
                                                   const FadingStretch& fading) {
  FadingStretch snr_db;
  for (std::size_t i = 0; i < fading.size(); ++i) {
    const double faded = fading[i] > min_fading_power ? fading[i] : min_fading_power;
    const double gain = budget.mean_gain * faded * power_of_two(shadowing_db[i] * -log2_of_a_db);
    const double snr = budget.power_mw * gain / (budget.intra_cell_mw * gain + budget.inter_cell_mw);
    snr_db[i] = logarithm(snr) * (1 / log2_of_a_db);
  }
  return snr_db;
}

FadingStretch reckon_by_two(const LinkBudget& budget, const FadingStretch& shadowing_db, const FadingStretch& fading) {
  return reckon(budget, shadowing_db, fading);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) FadingStretch reckon_by_four(const LinkBudget& budget,
                                                             const FadingStretch& shadowing_db,
                                                             const FadingStretch& fading) {
  return reckon(budget, shadowing_db, fading);
}

const auto reckon_stretch = have_avx2() ? reckon_by_four : reckon_by_two;
#else
constexpr auto reckon_stretch = reckon_by_two;
#endif

}  // namespace

FadingStretch LinkBudget::snr_about(const FadingStretch& shadowing_db, const FadingStretch& fading) const {
  return reckon_stretch(*this, shadowing_db, fading);
}

}  // namespace sluice::emulator

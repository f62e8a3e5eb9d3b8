#include "emulator/channel/fading.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

namespace sluice::emulator {
namespace {

/// Steps between fresh computations of the phases: rotating 1024 times costs at most 1e-13 of precision.
constexpr std::uint64_t anchor_interval = 1024;
/// Random displacement of each angle, as a part of the angle between neighbours. Large enough that two UEs' frequencies
/// differ, small enough that the autocorrelation stays at J0.
constexpr double displacement = 0.1;
/// Sums that run side by side.
constexpr std::size_t lanes = 8;

}  // namespace

Fading::Fading(double doppler, Duration interval, Random random) {
  if (!(doppler >= 0) || interval <= Duration::zero()) {
    throw std::invalid_argument("fading: the Doppler frequency must be >= 0 and the interval > 0");
  }
  // Away from 0 and 1/2, where the angles lie symmetrically and pairs of sinusoids would have the same frequency.
  const double rotation = random.uniform(0.15, 0.35);
  constexpr auto count = static_cast<double>(sinusoids);
  for (std::size_t n = 0; n < sinusoids; ++n) {
    const double place = static_cast<double>(n) + rotation + random.uniform(-displacement, displacement);
    const double angle = 2 * std::numbers::pi * place / count;
    turn_[n] = 2 * std::numbers::pi * doppler * std::cos(angle) * to_seconds(interval);
    phase_[n] = random.uniform(0, 2 * std::numbers::pi);
    step_re_[n] = std::cos(turn_[n]);
    step_im_[n] = std::sin(turn_[n]);
  }
  anchor(0);
}

void Fading::anchor(std::uint64_t number) {
  const double amplitude = 1 / std::sqrt(static_cast<double>(sinusoids));
  for (std::size_t n = 0; n < sinusoids; ++n) {
    const double angle = phase_[n] + turn_[n] * static_cast<double>(number);
    re_[n] = amplitude * std::cos(angle);
    im_[n] = amplitude * std::sin(angle);
  }
  at_ = number;
}

void Fading::rotate() {
  for (std::size_t n = 0; n < sinusoids; ++n) {
    const double re = re_[n] * step_re_[n] - im_[n] * step_im_[n];
    im_[n] = re_[n] * step_im_[n] + im_[n] * step_re_[n];
    re_[n] = re;
  }
  ++at_;
}

double Fading::sum(const Row& row) {
  // Several sums side by side, in an order that is written down, so that the compiler may use vector registers.
  std::array<double, lanes> sums{};
  for (std::size_t n = 0; n < sinusoids; n += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += row[n + lane];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// rotate() and sum() of both rows in one pass: the same operations in the same order, and the same bits.
std::complex<double> Fading::rotated() {
  // What every TTI of every UE takes. Spelled out as the processor's pairs, because compilers do not find them.
  using Pair = double __attribute__((vector_size(2 * sizeof(double))));
  constexpr std::size_t pairs = lanes / 2;
  std::array<Pair, pairs> sum_re{};
  std::array<Pair, pairs> sum_im{};
  const auto load = [](const double* from) {
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
  };
  for (std::size_t n = 0; n < sinusoids; n += lanes) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < pairs; ++k) {
      const std::size_t at = n + 2 * k;
      const Pair re = load(&re_[at]);
      const Pair im = load(&im_[at]);
      const Pair step_re = load(&step_re_[at]);
      const Pair step_im = load(&step_im_[at]);
      const Pair next_re = re * step_re - im * step_im;
      const Pair next_im = re * step_im + im * step_re;
      std::memcpy(&re_[at], &next_re, sizeof next_re);
      std::memcpy(&im_[at], &next_im, sizeof next_im);
      sum_re[k] += next_re;
      sum_im[k] += next_im;
    }
  }
  ++at_;
  const auto total = [](const std::array<Pair, pairs>& sums) {
    return ((sums[0][0] + sums[0][1]) + (sums[1][0] + sums[1][1])) +
           ((sums[2][0] + sums[2][1]) + (sums[3][0] + sums[3][1]));
  };
  return {total(sum_re), total(sum_im)};
}

std::complex<double> Fading::gain(std::uint64_t number) {
  // Always from the same anchor by the same rotations, so that the value depends on the number alone.
  const std::uint64_t base = number / anchor_interval * anchor_interval;
  if (at_ > number || at_ < base) anchor(base);
  while (at_ + 1 < number) rotate();
  if (at_ < number) return rotated();
  return {sum(re_), sum(im_)};
}

}  // namespace sluice::emulator

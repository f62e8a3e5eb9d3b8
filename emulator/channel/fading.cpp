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

double total(const std::array<double, lanes>& sums) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

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
  return total(sums);
}

namespace {

/// The rows of a Fading as its kernels see them.
struct Rows {
  double* re;
  double* im;
  const double* step_re;
  const double* step_im;
};

/// rotate() and sum() of both rows in one pass, `width` sinusoids at a time: the same operations in the same order, and
/// the same bits, however many a processor takes at once. It is what every TTI of every UE takes; spelled out, because
/// compilers do not find it.
template <std::size_t width>
[[gnu::always_inline]] inline std::complex<double> rotate_and_sum(const Rows& rows) {
  using Vector [[gnu::vector_size(width * sizeof(double))]] = double;
  constexpr std::size_t vectors = lanes / width;
  Vector sum_re[vectors]{};
  Vector sum_im[vectors]{};
  for (std::size_t n = 0; n < Fading::sinusoids; n += lanes) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < vectors; ++k) {
      const std::size_t at = n + width * k;
      Vector re;
      Vector im;
      Vector step_re;
      Vector step_im;
      std::memcpy(&re, rows.re + at, sizeof re);
      std::memcpy(&im, rows.im + at, sizeof im);
      std::memcpy(&step_re, rows.step_re + at, sizeof step_re);
      std::memcpy(&step_im, rows.step_im + at, sizeof step_im);
      const Vector next_re = re * step_re - im * step_im;
      const Vector next_im = re * step_im + im * step_re;
      std::memcpy(rows.re + at, &next_re, sizeof next_re);
      std::memcpy(rows.im + at, &next_im, sizeof next_im);
      sum_re[k] += next_re;
      sum_im[k] += next_im;
    }
  }
  std::array<double, lanes> re;
  std::array<double, lanes> im;
  std::memcpy(re.data(), sum_re, sizeof re);
  std::memcpy(im.data(), sum_im, sizeof im);
  return {total(re), total(im)};
}

std::complex<double> rotated_by_two(const Rows& rows) {
  return rotate_and_sum<2>(rows);
}

/// AVX2 alone: with fused multiplication the last bits would be others.
__attribute__((target("avx2"))) std::complex<double> rotated_by_four(const Rows& rows) {
  return rotate_and_sum<4>(rows);
}

bool have_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

const auto rotated_by = have_avx2() ? rotated_by_four : rotated_by_two;

}  // namespace

std::complex<double> Fading::rotated() {
  ++at_;
  return rotated_by({re_.data(), im_.data(), step_re_.data(), step_im_.data()});
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

#include "emulator/channel/fading.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace sluice::emulator {
namespace {

/// Steps between fresh computations of the phases: rotating 1024 times costs at most 1e-13 of precision.
constexpr std::uint64_t anchor_interval = 1024;
/// Random displacement of each angle, as a part of the angle between neighbours. Large enough that two UEs' frequencies
/// differ, small enough that the autocorrelation stays at J0.
constexpr double displacement = 0.1;

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
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  for (std::size_t n = 0; n < sinusoids; n += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += row[n + lane];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

std::complex<double> Fading::gain(std::uint64_t number) {
  // Always from the same anchor by the same rotations, so that the value depends on the number alone.
  const std::uint64_t base = number / anchor_interval * anchor_interval;
  if (at_ > number || at_ < base) anchor(base);
  while (at_ < number) rotate();
  return {sum(re_), sum(im_)};
}

}  // namespace sluice::emulator

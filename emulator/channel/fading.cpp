#include "emulator/channel/fading.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include "emulator/channel/vectors.hpp"

namespace sluice::emulator {
namespace {

/// Steps between fresh computations of the phases: rotating 1024 times costs at most 1e-13 of precision.
constexpr std::uint64_t anchor_interval = 1024;
/// Random displacement of each angle, as a part of the angle between neighbours. Large enough that two UEs' frequencies
/// differ, small enough that the autocorrelation stays at J0.
constexpr double displacement = 0.1;
static_assert(anchor_interval % Fading::stretch == 0);
/// Sums that run side by side.
constexpr std::size_t lanes = 8;

using Lanes = std::array<double, lanes>;
using Sums = std::array<Lanes, Fading::stretch>;  ///< by step

/// The place in its row of sinusoid `n`. Each lane takes every eighth of them. Lanes that total() adds to each other
/// are kept apart, so that it finds two such sums side by side.
constexpr std::size_t place_of(std::size_t n) {
  constexpr std::array<std::size_t, lanes> places{0, 4, 2, 6, 1, 5, 3, 7};
  return n / lanes * lanes + places[n % lanes];
}

/// The lanes' sum: (0 + 1) + (2 + 3) beside (4 + 5) + (6 + 7), and then these two.
double total(const Lanes& sums) {
  using Two [[gnu::vector_size(2 * sizeof(double))]] = double;
  Two pairs[lanes / 2];
  static_assert(sizeof pairs == sizeof sums);
  std::memcpy(&pairs, &sums, sizeof pairs);
  const Two halves = (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
  return halves[0] + halves[1];
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
    const double direction = static_cast<double>(n) + rotation + random.uniform(-displacement, displacement);
    const double angle = 2 * std::numbers::pi * direction / count;
    const std::size_t place = place_of(n);
    turn_[place] = 2 * std::numbers::pi * doppler * std::cos(angle) * to_seconds(interval);
    phase_[place] = random.uniform(0, 2 * std::numbers::pi);
    step_re_[place] = std::cos(turn_[place]);
    step_im_[place] = std::sin(turn_[place]);
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

namespace {

/// The rows of a Fading as its kernels see them.
struct Rows {
  double* re;
  double* im;
  const double* step_re;
  const double* step_im;
};

/// Sinusoids whose rotations, each of which waits for the one before, run side by side.
constexpr std::size_t chains = 4;

/// Adds `chains` lots of sinusoids of a stretch of steps to the sums, which begin with the `first` of them, and leaves
/// them at the step behind it, `width` at a time: the same operations in the same order, and the same bits, however
/// many a processor takes at once. It is what every TTI of every UE takes; spelled out, because compilers do not find
/// it.
template <std::size_t width, bool first>
[[gnu::always_inline]] inline void add_lots(const Rows& rows, std::size_t at, double* sums_re, double* sums_im) {
  using Vector [[gnu::vector_size(width * sizeof(double))]] = double;
  Vector re[chains];
  Vector im[chains];
  Vector step_re[chains];
  Vector step_im[chains];
#pragma GCC unroll 4
  for (std::size_t c = 0; c < chains; ++c) {
    std::memcpy(&re[c], rows.re + at + c * lanes, sizeof re[c]);
    std::memcpy(&im[c], rows.im + at + c * lanes, sizeof im[c]);
    std::memcpy(&step_re[c], rows.step_re + at + c * lanes, sizeof step_re[c]);
    std::memcpy(&step_im[c], rows.step_im + at + c * lanes, sizeof step_im[c]);
  }
  for (std::size_t step = 0; step < Fading::stretch; ++step) {
    Vector sum_re{};
    Vector sum_im{};
    if constexpr (!first) {
      std::memcpy(&sum_re, sums_re + step * lanes, sizeof sum_re);
      std::memcpy(&sum_im, sums_im + step * lanes, sizeof sum_im);
    }
#pragma GCC unroll 4
    for (std::size_t c = 0; c < chains; ++c) {
      sum_re = first && c == 0 ? re[c] : sum_re + re[c];
      sum_im = first && c == 0 ? im[c] : sum_im + im[c];
      const Vector crossed_re = im[c] * step_im[c];
      const Vector crossed_im = re[c] * step_im[c];
      re[c] = re[c] * step_re[c] - crossed_re;
      im[c] = crossed_im + im[c] * step_re[c];
    }
    std::memcpy(sums_re + step * lanes, &sum_re, sizeof sum_re);
    std::memcpy(sums_im + step * lanes, &sum_im, sizeof sum_im);
  }
#pragma GCC unroll 4
  for (std::size_t c = 0; c < chains; ++c) {
    std::memcpy(rows.re + at + c * lanes, &re[c], sizeof re[c]);
    std::memcpy(rows.im + at + c * lanes, &im[c], sizeof im[c]);
  }
}

/// Adds up the sinusoids of a stretch of steps.
template <std::size_t width>
[[gnu::always_inline]] inline void add_up(const Rows& rows, Fading::Gains& gains) {
  Sums re;
  Sums im;
  for (std::size_t lane = 0; lane < lanes; lane += width) {
    add_lots<width, true>(rows, lane, re[0].data() + lane, im[0].data() + lane);
    for (std::size_t from = chains * lanes; from < Fading::sinusoids; from += chains * lanes) {
      add_lots<width, false>(rows, from + lane, re[0].data() + lane, im[0].data() + lane);
    }
  }
  for (std::size_t step = 0; step < Fading::stretch; ++step) {
    gains.re[step] = total(re[step]);
    gains.im[step] = total(im[step]);
  }
}

void add_up_by_two(const Rows& rows, Fading::Gains& gains) {
  add_up<2>(rows, gains);
}

__attribute__((target("avx2"))) void add_up_by_four(const Rows& rows, Fading::Gains& gains) {
  add_up<4>(rows, gains);
}

const auto add_up_sinusoids = have_avx2() ? add_up_by_four : add_up_by_two;

}  // namespace

void Fading::compute(std::uint64_t first) {
  // Always from the same anchor by the same rotations, so that the value depends on the number alone.
  const std::uint64_t base = first / anchor_interval * anchor_interval;
  if (at_ > first || at_ <= base) anchor(base);
  do {
    add_up_sinusoids({re_.data(), im_.data(), step_re_.data(), step_im_.data()}, gains_);
    at_ += stretch;
  } while (at_ <= first);
  first_ = first;
}

}  // namespace sluice::emulator

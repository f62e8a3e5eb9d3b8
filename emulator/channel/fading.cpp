// Implements Fading: Rayleigh fading with Jakes' spectrum as a sum of 64 rotating sinusoids. All radio channel models
// and the trace generator call it for each TTI, so it is vectorised. Invariant: the value at a step depends on the seed
// and the step number only. Therefore the operations and their order are the same for every vector width and every
// access pattern. Phases are recomputed every anchor_interval steps to bound rounding errors.

#include "emulator/channel/fading.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include "emulator/channel/vectors.hpp"

namespace sluice::emulator {
namespace {

/// Number of steps (time intervals of the fading) between exact computations of the phases. In between, each sinusoid
/// is rotated once per step. The error after 1024 rotations is at most 1e-13.
constexpr std::uint64_t anchor_interval = 1024;
/// Largest random displacement of a sinusoid's angle of arrival, relative to the angle between two neighbouring
/// sinusoids. With this size the frequencies of two UEs differ, and the autocorrelation is still J0.
constexpr double displacement = 0.1;
static_assert(anchor_interval % Fading::stretch == 0);
/// Number of lanes: partial sums that the vectorised functions compute in parallel. Each lane sums every eighth
/// sinusoid.
constexpr std::size_t lanes = 8;

/// Partial sums of the sinusoids, one for each lane. Lane k sums the sinusoids k, k + 8, k + 16 and so on.
using Lanes = std::array<double, lanes>;
/// Partial sums of the sinusoids, for each step of a stretch (Fading::stretch consecutive steps).
using Sums = std::array<Lanes, Fading::stretch>;

/// Returns the index of sinusoid `n` in the arrays of Fading. Sinusoid `n` belongs to lane n mod 8. Lanes k and k + 4
/// are adjacent in memory, so that one vector of two numbers in total() contains both.
constexpr std::size_t place_of(std::size_t n) {
  constexpr std::array<std::size_t, lanes> places{0, 4, 2, 6, 1, 5, 3, 7};
  return n / lanes * lanes + places[n % lanes];
}

/// Returns the sum over the eight lanes. Lanes k and k + 4 are processed in one vector of two numbers. The order of the
/// additions is always ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
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
  // The rotation avoids 0 and 1/2, because symmetric angles would give pairs of sinusoids with equal frequency.
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

/// Computes the sinusoids at step `number` exactly from their phases.
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

/// Pointers to the per-sinusoid arrays (rows) of a Fading, for the vectorised functions.
struct Rows {
  double* re;
  double* im;
  const double* step_re;
  const double* step_im;
};

/// Number of sinusoids whose rotations are computed in parallel. Successive rotations of one sinusoid cannot be
/// parallel, because each depends on the one before.
constexpr std::size_t chains = 4;

/// Adds `chains` vectors of sinusoids to the sums of a stretch (Fading::stretch consecutive steps). Advances these
/// sinusoids to the first step after the stretch. If `first` is true, the sums are overwritten instead.
///
/// `width` doubles are processed at a time. Operations and their order are equal for every width, so the results are
/// equal in every bit. The vectors are explicit because compilers do not vectorise the loop, which runs in every TTI of
/// every UE.
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

/// Computes the sums of all sinusoids for each step of a stretch (Fading::stretch consecutive steps).
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

/// Computes the gains of a stretch of steps, two doubles at a time.
void add_up_by_two(const Rows& rows, Fading::Gains& gains) {
  add_up<2>(rows, gains);
}

#if defined(__x86_64__)
/// Computes the gains of a stretch of steps, four doubles at a time (AVX2).
__attribute__((target("avx2"))) void add_up_by_four(const Rows& rows, Fading::Gains& gains) {
  add_up<4>(rows, gains);
}

const auto add_up_sinusoids = have_avx2() ? add_up_by_four : add_up_by_two;
#else
constexpr auto add_up_sinusoids = add_up_by_two;
#endif

}  // namespace

void Fading::compute(std::uint64_t first) {
  // Rotation always starts from the anchor, so that a value depends on the step number alone.
  const std::uint64_t base = first / anchor_interval * anchor_interval;
  if (at_ > first || at_ <= base) anchor(base);
  do {
    add_up_sinusoids({re_.data(), im_.data(), step_re_.data(), step_im_.data()}, gains_);
    at_ += stretch;
  } while (at_ <= first);
  first_ = first;
}

}  // namespace sluice::emulator

#include "emulator/model/clamp_loop.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

namespace sluice::emulator {

/// Solves λ + b·e^(−λ) = 0 for the rightmost root λ by Newton's method; b is `slope`. For b ≤ 1/e the root is real and
/// in [−1, 0). For larger b its imaginary part grows from 0 towards π; it is π/2 at b = π/2, where Re λ = 0. For large
/// b the start value ln(b) + iπ/2 is close to the root.
double clamp_loop_growth(double slope) {
  if (!(slope > 0)) throw std::invalid_argument("b must be above 0");
  using Complex = std::complex<double>;
  constexpr double largest_real = 1 / std::numbers::e;
  constexpr int max_steps = 200;
  Complex root = slope <= largest_real ? Complex(0, 0) : Complex(std::log(slope), std::numbers::pi / 2);
  for (int step = 0; step < max_steps; ++step) {
    const Complex delayed = slope * std::exp(-root);
    const Complex change = (root + delayed) / (1.0 - delayed);
    root -= change;
    if (std::abs(change) < 1e-13) break;
  }
  return std::exp(root.real());
}

}  // namespace sluice::emulator

#pragma once

namespace sluice::emulator {

/// By what the queue's distance from its equilibrium is multiplied in each round trip once it swings freely, by the
/// linear model of theorem 1 of Andrew, Hanly and Mukhtar (IEEE TMC 2008, equation 12): dq/dt = (kτ + a − b·q(t −
/// d))/d. With q = e^(λt/d) it is e^(Re λ) for the rightmost root of λ + b·e^(−λ) = 0: below 1 for b < π/2, where the
/// loop is stable, above 1 beyond. `slope` b > 0; else std::invalid_argument.
[[nodiscard]] double clamp_loop_growth(double slope);

}  // namespace sluice::emulator

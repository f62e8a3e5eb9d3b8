#pragma once

namespace sluice::emulator {

/// Returns the factor per round trip by which the queue's distance from equilibrium changes in the linear model of the
/// control law CLAMP. Source: Andrew, Hanly and Mukhtar, IEEE TMC 2008, theorem 1 and equation 12: dq/dt = (kτ + a −
/// b·q(t − d))/d. There q is the queue and d the round trip; k, τ and a only determine the equilibrium. With q =
/// e^(λt/d) the factor is e^(Re λ) for the rightmost root of λ + b·e^(−λ) = 0. The loop is stable, and the factor below
/// 1, for b < π/2. `slope` is b; throws std::invalid_argument unless it is above 0.
[[nodiscard]] double clamp_loop_growth(double slope);

}  // namespace sluice::emulator

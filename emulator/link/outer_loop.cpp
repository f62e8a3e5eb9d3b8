#include "emulator/link/outer_loop.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator::link {

OuterLoop::OuterLoop(double target) : raise_db_(step_db * target / (1 - target)) {
  if (!(target >= 0.001 && target <= 0.5)) {
    throw std::invalid_argument("outer loop: the target error rate must be 0.001 to 0.5");
  }
}

void OuterLoop::begin_tti() {
  const Outcome known = std::exchange(outcomes_[++ttis_ % round_trip], Outcome::none);
  if (known == Outcome::raises) offset_db_ += raise_db_;
  if (known == Outcome::lowers) offset_db_ -= step_db;
}

void OuterLoop::sent(bool received, bool can_rise, bool can_fall) {
  Outcome& outcome = outcomes_[ttis_ % round_trip];
  if (received && can_rise) outcome = Outcome::raises;
  if (!received && can_fall) outcome = Outcome::lowers;
}

}  // namespace sluice::emulator::link

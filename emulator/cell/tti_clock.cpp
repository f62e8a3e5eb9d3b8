#include "emulator/cell/tti_clock.hpp"

#include <stdexcept>

namespace sluice::emulator {

TtiClock::TtiClock(EventLoop& loop, Duration tti, TtiUser& user) : loop_(loop), tti_(tti), user_(user) {
  if (tti <= Duration::zero()) throw std::invalid_argument("cell: the TTI must be positive");
}

std::uint64_t TtiClock::passed(Instant now) const {
  return now.time_since_epoch() > Duration::zero() ? tti_of(now - Duration(1)) + 1 : 0;
}

void TtiClock::wake_at(std::uint64_t tti) {
  if (tti >= next_to_run_) return;
  next_to_run_ = tti;
  loop_.at(begin_of(tti), *this, tti);
}

void TtiClock::on_event(std::uint64_t tag, Instant now) {
  if (tag != next_to_run_) return;
  next_to_run_ = asleep;
  wake_at(user_.run_tti(tag, now));
}

}  // namespace sluice::emulator

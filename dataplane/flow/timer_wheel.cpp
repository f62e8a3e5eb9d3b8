#include "dataplane/flow/timer_wheel.hpp"

#include <bit>
#include <stdexcept>

namespace sluice::flow {

TimerWheel::TimerWheel(std::uint32_t capacity, Instant origin, Duration tick)
    : origin_(origin), shift_(0), nodes_(capacity) {
  if (tick < Duration(1) || tick > std::chrono::seconds(1)) {
    throw std::invalid_argument("timer wheel: the tick must be 1 ns to 1 s");
  }
  if (capacity >= head_mark) throw std::invalid_argument("timer wheel: at most 2^31 - 1 timers");
  shift_ = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(tick.count()))) - 1;
  quiet_until_ = origin + this->tick();
}

}  // namespace sluice::flow

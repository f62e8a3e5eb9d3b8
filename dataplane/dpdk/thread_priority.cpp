#include "dataplane/dpdk/thread_priority.hpp"

#include <pthread.h>
#include <sched.h>

namespace sluice::dpdk {

bool take_real_time_priority() noexcept {
  sched_param parameters{};
  parameters.sched_priority = sched_get_priority_min(SCHED_FIFO);
  return pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0;
}

}  // namespace sluice::dpdk

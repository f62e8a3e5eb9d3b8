#include "dataplane/tcp/timers.hpp"

namespace sluice::tcp {

Duration Timers::rto() const {
  if (!is_configured()) return Duration::zero();
  return rtt_.timeout(bits_.backoff, config().min_rto, config().max_rto);
}

}  // namespace sluice::tcp

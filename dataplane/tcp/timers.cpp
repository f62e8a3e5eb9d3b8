#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"

// Timers of an endpoint. One is armed at a time (reordering, loss probe, retransmission, persist or TIME-WAIT), plus
// the delayed ACK. A deadline may move without notice to the owner, so on_timer() accepts early calls.

namespace sluice::tcp {

Duration Endpoint::rto() const {
  if (config_ == nullptr) return Duration::zero();
  return rtt_.timeout(bits_.backoff, config_->min_rto, config_->max_rto);
}

void Endpoint::on_timer(Instant now) {
  if (rcv_.ack_deadline <= now) {
    rcv_.ack_deadline = never;
    bits_.ack_now = true;
  }
  if (timer_deadline_ > now) return;
  const Timer expired = bits_.timer;
  bits_.on_fast_path = false;
  if (expired != Timer::probe) arm(Timer::none, never);
  switch (expired) {
    case Timer::none:
      break;
    case Timer::reorder:
      on_reordering_timeout(now);
      break;
    case Timer::probe:
      on_probe_timeout(now);
      break;
    case Timer::retransmit:
      on_retransmission_timeout(now);
      break;
    case Timer::persist:
      on_persist();
      break;
    case Timer::time_wait:
      close(CloseReason::finished);
      break;
  }
}

}  // namespace sluice::tcp

#include "control/smvs/outstanding_grants.hpp"

#include <algorithm>

#include "control/smvs/allowance.hpp"

namespace sluice::control {

void OutstandingGrants::granted(Instant now, std::uint64_t sequence, Bytes allowance) {
  grants_[next_] = {now, sequence, allowance};
  next_ = (next_ + 1) % capacity;
  used_ = std::min(used_ + 1, capacity);
}

void OutstandingGrants::on_status(Instant now, const feedback::BearerStatus& status, std::uint64_t arrived) {
  if (status.applied_sequence < applied_sequence_) return;
  applied_sequence_ = status.applied_sequence;
  left_ = std::min(status.allowance_left, longest_packet);
  status_at_ = now;
  arrived_at_status_ = arrived;
}

Bytes OutstandingGrants::in_flight(Instant now, std::uint64_t arrived) const {
  Bytes pending;
  for (std::size_t age = 1; age <= used_; ++age) {
    const Grant& grant = grants_[(next_ + capacity - age) % capacity];
    // A grant older than a round trip that was not applied is lost.
    if (now - grant.at > round_trip_) break;
    if (grant.sequence > applied_sequence_) pending += grant.allowance;
  }
  if (now - status_at_ > round_trip_ || arrived < arrived_at_status_) return pending;
  return pending + std::max(Bytes(0), left_ - Bytes(arrived - arrived_at_status_));
}

void OutstandingGrants::restart() {
  used_ = 0;
  next_ = 0;
  applied_sequence_ = 0;
  left_ = Bytes(0);
}

}  // namespace sluice::control

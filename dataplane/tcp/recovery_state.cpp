#include "dataplane/tcp/recovery_state.hpp"

#include "dataplane/tcp/endpoint.hpp"

namespace sluice::tcp {
namespace {

class Heap : public RecoveryStatePool {
 public:
  RecoveryState& take() override { return *new RecoveryState(this); }
  void give_back(RecoveryState& recovery_state) noexcept override { delete &recovery_state; }
};

}  // namespace

const RecoveryState& RecoveryState::none() {
  static const RecoveryState nothing;
  return nothing;
}

RecoveryStatePool& RecoveryStatePool::heap() {
  static Heap store;
  return store;
}

/// Takes a RecoveryState from the pool and attaches it to the send queue.
RecoveryState& Endpoint::take_recovery_state() {
  RecoveryStatePool* const store = config_ != nullptr ? config_->recovery_states : nullptr;
  RecoveryState& begun = (store != nullptr ? *store : RecoveryStatePool::heap()).take();
  send_.set_recovery_state(&begun);
  return begun;
}

/// Detaches the RecoveryState and returns it to its pool.
void Endpoint::give_back_recovery_state() {
  RecoveryState& over = *send_.recovery_state();
  bits_.urgent_in = bits_.urgent_out = false;
  send_.set_recovery_state(nullptr);
  over.store->give_back(over);
}

/// True if the scoreboard has no sacked or lost packet, no segment is held out of order, and no SACK block is to be
/// reported. Retransmissions may still be in flight.
bool Endpoint::can_release_recovery_state() const {
  if (!has_recovery_state()) return true;
  const RecoveryState& kept = recovery_state();
  return kept.scoreboard.sacked == 0 && kept.scoreboard.to_retransmit == 0 && kept.reassembly.empty() &&
         kept.reassembly.sack_generator().empty();
}

/// Releases recovery state that is no longer needed. Called while no recovery is in progress.
void Endpoint::release_recovery_state() {
  if (send_.sacked() == 0) ensure_recovery_state().rack.forget();
  if (can_release_recovery_state() && !recovery_state().scoreboard.retransmissions && !bits_.urgent_in &&
      !bits_.urgent_out)
    give_back_recovery_state();
}

}  // namespace sluice::tcp

#include "dataplane/tcp/recovery_state.hpp"

#include "dataplane/tcp/connection_core.hpp"

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
RecoveryState& ConnectionCore::take_recovery_state() {
  RecoveryStatePool* const store = config_ != nullptr ? config_->recovery_states : nullptr;
  RecoveryState& begun = (store != nullptr ? *store : RecoveryStatePool::heap()).take();
  send_.set_recovery_state(&begun);
  return begun;
}

void ConnectionCore::give_back_recovery_state() {
  RecoveryState& over = *send_.recovery_state();
  send_.set_recovery_state(nullptr);
  over.store->give_back(over);
}

bool ConnectionCore::can_release_recovery_state() const {
  if (!has_recovery_state()) return true;
  const RecoveryState& kept = recovery_state();
  return kept.scoreboard.sacked == 0 && kept.scoreboard.to_retransmit == 0 && kept.reassembly.empty() &&
         kept.reassembly.sack_generator().empty();
}

}  // namespace sluice::tcp

#include "dataplane/tcp/disturbance.hpp"

#include "dataplane/tcp/endpoint.hpp"

namespace sluice::tcp {
namespace {

class Heap : public DisturbanceStore {
 public:
  Disturbance& take() override { return *new Disturbance(this); }
  void give_back(Disturbance& disturbance) noexcept override { delete &disturbance; }
};

}  // namespace

const Disturbance& Disturbance::none() {
  static const Disturbance nothing;
  return nothing;
}

DisturbanceStore& DisturbanceStore::heap() {
  static Heap store;
  return store;
}

/// Takes a Disturbance from the store and attaches it to the send queue.
Disturbance& Endpoint::begin_disturbance() {
  DisturbanceStore* const store = config_ != nullptr ? config_->disturbances : nullptr;
  Disturbance& begun = (store != nullptr ? *store : DisturbanceStore::heap()).take();
  send_.disturb(&begun);
  return begun;
}

/// Detaches the Disturbance and returns it to its store.
void Endpoint::end_disturbance() {
  Disturbance& over = *send_.disturbance();
  bits_.urgent_in = bits_.urgent_out = false;
  send_.disturb(nullptr);
  over.store->give_back(over);
}

/// True if nothing is missing and there is nothing to report in SACK blocks. Retransmissions may still be in flight.
bool Endpoint::is_calm() const {
  if (!disturbed()) return true;
  const Disturbance& kept = disturbance();
  return kept.scoreboard.sacked == 0 && kept.scoreboard.to_retransmit == 0 && kept.reassembly.empty() &&
         kept.reassembly.report().empty();
}

/// Releases recovery state that is no longer needed. Called while no recovery is in progress.
void Endpoint::calm_down() {
  if (send_.sacked() == 0) disturb().rack.forget();
  if (is_calm() && !disturbance().scoreboard.copies && !bits_.urgent_in && !bits_.urgent_out) end_disturbance();
}

}  // namespace sluice::tcp

#pragma once

#include <cassert>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/recovery_state.hpp"

namespace sluice::proxy {

/// Pool of the recovery state (tcp::RecoveryState) that a TCP endpoint needs while it recovers from loss, reorders or
/// closes. Address space is reserved for all endpoints, memory is used for the largest number at one time. Thread: the
/// shard's.
class RecoveryStates : public tcp::RecoveryStatePool {
 public:
  /// Reserves address space for `endpoints` states, one for each endpoint that may exist. Throws std::bad_alloc.
  explicit RecoveryStates(std::uint32_t endpoints) : places_(endpoints) {}

  /// Allocates recovery state for an endpoint. Never fails, because every endpoint has a place.
  [[nodiscard]] tcp::RecoveryState& take() override {
    const std::uint32_t place = places_.emplace(this);
    assert(place != flow::Slab<tcp::RecoveryState>::none);
    return places_[place];
  }
  /// Returns the recovery state of an endpoint to the pool.
  void give_back(tcp::RecoveryState& recovery_state) noexcept override {
    places_.erase(places_.index_of(recovery_state));
  }
  /// Returns the number of endpoints that have recovery state now.
  [[nodiscard]] std::uint32_t count() const { return places_.size(); }

 private:
  flow::Slab<tcp::RecoveryState> places_;
};

}  // namespace sluice::proxy

#pragma once

#include <cassert>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/recovery_state.hpp"

namespace sluice::proxy {

/// Pool of recovery states (tcp::RecoveryState). A TCP endpoint needs one only while it recovers from loss, holds
/// out-of-order data or closes. Address space is reserved for all endpoints. Memory is used for the largest number of
/// states needed at one time. Thread: the shard's.
class RecoveryStates : public tcp::RecoveryStatePool {
 public:
  /// Reserves address space for `endpoints` states, the maximum number of endpoints. Throws std::bad_alloc.
  explicit RecoveryStates(std::uint32_t endpoints) : places_(endpoints) {}

  /// Returns a recovery state for an endpoint. Never fails, because space is reserved for every endpoint.
  [[nodiscard]] tcp::RecoveryState& take() override {
    const std::uint32_t place = places_.emplace(this);
    assert(place != flow::Slab<tcp::RecoveryState>::none);
    return places_[place];
  }
  /// Returns the recovery state of an endpoint to the pool.
  void give_back(tcp::RecoveryState& recovery_state) noexcept override {
    places_.erase(places_.index_of(recovery_state));
  }
  /// Returns the number of endpoints that currently have a recovery state.
  [[nodiscard]] std::uint32_t count() const { return places_.size(); }

 private:
  flow::Slab<tcp::RecoveryState> places_;
};

}  // namespace sluice::proxy

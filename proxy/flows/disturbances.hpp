#pragma once

#include <cassert>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/disturbance.hpp"

namespace sluice::proxy {

/// Pool of the recovery state (tcp::Disturbance) that an endpoint needs during loss, reordering or close. Address space
/// is reserved for all endpoints, memory is used for the largest number at one time. Thread: the shard's.
class Disturbances : public tcp::DisturbanceStore {
 public:
  /// Reserves places for `endpoints` endpoints, the maximum. Throws std::bad_alloc.
  explicit Disturbances(std::uint32_t endpoints) : places_(endpoints) {}

  /// Allocates recovery state for an endpoint; there is a place for each.
  [[nodiscard]] tcp::Disturbance& take() override {
    const std::uint32_t place = places_.emplace(this);
    assert(place != flow::Slab<tcp::Disturbance>::none);
    return places_[place];
  }
  /// Returns recovery state to the pool.
  void give_back(tcp::Disturbance& disturbance) noexcept override { places_.erase(places_.index_of(disturbance)); }
  /// Returns the number of endpoints with recovery state.
  [[nodiscard]] std::uint32_t count() const { return places_.size(); }

 private:
  flow::Slab<tcp::Disturbance> places_;
};

}  // namespace sluice::proxy

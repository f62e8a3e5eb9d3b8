#pragma once

#include <cassert>
#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/disturbance.hpp"

namespace sluice::proxy {

/// What the disturbed connections of a shard keep: address space for all of its endpoints, memory as some are first
/// disturbed at one time. Thread: the shard's.
class Disturbances : public tcp::DisturbanceStore {
 public:
  /// `endpoints`: the most that there are. Throws std::bad_alloc.
  explicit Disturbances(std::uint32_t endpoints) : places_(endpoints) {}

  [[nodiscard]] tcp::Disturbance& take() override {
    const std::uint32_t place = places_.emplace(this);
    assert(place != flow::Slab<tcp::Disturbance>::none);
    return places_[place];
  }
  void give_back(tcp::Disturbance& disturbance) noexcept override { places_.erase(places_.index_of(disturbance)); }
  /// Endpoints that have one.
  [[nodiscard]] std::uint32_t count() const { return places_.size(); }

 private:
  flow::Slab<tcp::Disturbance> places_;
};

}  // namespace sluice::proxy

#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "dataplane/flow/slab.hpp"

namespace sluice::proxy {

/// A part of a bearer that it does not always have: a place in a pool. Whoever has it drops it before the end.
template <typename T>
class PooledPart {
 public:
  [[nodiscard]] explicit operator bool() const { return part_ != nullptr; }
  [[nodiscard]] T& operator*() const { return *part_; }
  [[nodiscard]] T* operator->() const { return part_; }

  /// Requires that it is not there. The pool has a place for each bearer.
  template <typename... Arguments>
  T& make(flow::Slab<T>& pool, Arguments&&... arguments) {
    const std::uint32_t place = pool.emplace(std::forward<Arguments>(arguments)...);
    assert(place != flow::Slab<T>::none);
    part_ = &pool[place];
    return *part_;
  }
  void drop(flow::Slab<T>& pool) {
    if (part_ != nullptr) pool.erase(pool.index_of(*part_));
    part_ = nullptr;
  }

 private:
  T* part_ = nullptr;
};

}  // namespace sluice::proxy

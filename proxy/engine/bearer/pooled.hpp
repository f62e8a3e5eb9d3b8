#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "dataplane/flow/slab.hpp"

namespace sluice::proxy {

/// Optional member of type T whose value is stored in a pool. The owner must call drop() before this object is
/// destroyed.
template <typename T>
class Pooled {
 public:
  /// True if the pooled object exists.
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] T& operator*() const { return *object_; }
  [[nodiscard]] T* operator->() const { return object_; }

  /// Creates the pooled object. Requires that none exists. The pool is never full, because it has one place for each
  /// bearer.
  template <typename... Arguments>
  T& make(flow::Slab<T>& pool, Arguments&&... arguments) {
    const std::uint32_t place = pool.emplace(std::forward<Arguments>(arguments)...);
    assert(place != flow::Slab<T>::none);
    object_ = &pool[place];
    return *object_;
  }
  /// Destroys the pooled object, if there is one, and returns its place to the pool.
  void drop(flow::Slab<T>& pool) {
    if (object_ != nullptr) pool.erase(pool.index_of(*object_));
    object_ = nullptr;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace sluice::proxy

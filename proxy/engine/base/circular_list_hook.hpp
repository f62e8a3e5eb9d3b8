#pragma once

#include <utility>

namespace sluice::proxy {

/// Base class of objects of type T that form a circular list; an object alone is a list of one. An object in a longer
/// list must call leave_ring() before it is destroyed. Thread: the owner's.
template <typename T>
class CircularListHook {
 public:
  CircularListHook(const CircularListHook&) = delete;
  CircularListHook& operator=(const CircularListHook&) = delete;

  /// Returns the next member of the circular list; the object itself if it is alone.
  [[nodiscard]] T& sibling() { return static_cast<T&>(*next_); }
  [[nodiscard]] const T& sibling() const { return static_cast<const T&>(*next_); }
  /// Calls visit(other) for each other member of the circular list.
  template <typename Visit>
  void for_each_sibling(Visit&& visit) {
    for (T* other = &sibling(); other != this; other = &other->sibling()) [[unlikely]] visit(*other);
  }
  template <typename Visit>
  void for_each_sibling(Visit&& visit) const {
    for (const T* other = &sibling(); other != this; other = &other->sibling()) [[unlikely]] visit(*other);
  }
  /// Inserts this object into the circular list of `other`. Requires that this object is alone in its list.
  void join_ring(T& other) { next_ = std::exchange(static_cast<CircularListHook&>(other).next_, this); }
  /// Removes this object from its circular list; the other objects stay linked.
  void leave_ring() {
    CircularListHook* before = this;
    while (before->next_ != this) before = before->next_;
    before->next_ = std::exchange(next_, this);
  }

 protected:
  CircularListHook() = default;
  ~CircularListHook() = default;

 private:
  CircularListHook* next_ = this;
};

}  // namespace sluice::proxy

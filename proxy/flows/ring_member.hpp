#pragma once

#include <utility>

namespace sluice::proxy {

/// One of a ring of its own kind; alone at first. T derives from it. Whoever destroys a member takes it out of its ring
/// before. Thread: its owner's.
template <typename T>
class RingMember {
 public:
  RingMember(const RingMember&) = delete;
  RingMember& operator=(const RingMember&) = delete;

  /// The next of the ring; itself when it is the only one.
  [[nodiscard]] T& sibling() { return static_cast<T&>(*next_); }
  [[nodiscard]] const T& sibling() const { return static_cast<const T&>(*next_); }
  /// Calls visit(other) for each other one of the ring.
  template <typename Visit>
  void for_each_sibling(Visit&& visit) {
    for (T* other = &sibling(); other != this; other = &other->sibling()) [[unlikely]] visit(*other);
  }
  template <typename Visit>
  void for_each_sibling(Visit&& visit) const {
    for (const T* other = &sibling(); other != this; other = &other->sibling()) [[unlikely]] visit(*other);
  }
  /// Enters the ring of which `other` is one; it is alone before.
  void join_ring(T& other) { next_ = std::exchange(static_cast<RingMember&>(other).next_, this); }
  /// Leaves the others to themselves.
  void leave_ring() {
    RingMember* before = this;
    while (before->next_ != this) before = before->next_;
    before->next_ = std::exchange(next_, this);
  }

 protected:
  RingMember() = default;
  ~RingMember() = default;

 private:
  RingMember* next_ = this;
};

}  // namespace sluice::proxy

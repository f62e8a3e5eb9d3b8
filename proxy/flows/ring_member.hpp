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

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Receiver of events. The tag of an event is the value that was passed to EventLoop::at().
class EventTarget {
 public:
  virtual void on_event(std::uint64_t tag, Instant now) = 0;

 protected:
  ~EventTarget() = default;
};

/// An event: its target, its time, and a number that orders the events of one instant.
struct Event {
  Instant when;
  std::uint64_t order;
  EventTarget* target;
  std::uint64_t tag;
  [[nodiscard]] bool before(const Event& other) const {
    return when != other.when ? when < other.when : order < other.order;
  }
};

/// Priority queue of events, earliest first: a heap with four children per node. Most events are scheduled while the
/// front event runs, so that the new event can replace the front in one operation.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return events_.empty(); }
  // The following functions require !empty().
  [[nodiscard]] const Event& front() const { return events_.front(); }
  /// Replaces the earliest event by `event`; equals pop() and push(), but is faster.
  void replace_front(const Event& event) { sink(event); }
  void pop() {
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) sink(last);
  }

  void push(const Event& event) {
    std::size_t hole = events_.size();
    events_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / children;
      if (!event.before(events_[parent])) break;
      events_[hole] = events_[parent];
      hole = parent;
    }
    events_[hole] = event;
  }

 private:
  static constexpr std::size_t children = 4;

  /// Inserts an event at its place in the heap. The root of the heap is free before the call.
  void sink(const Event& event) {
    std::size_t hole = 0;
    for (std::size_t first = 1; first < events_.size(); first = hole * children + 1) {
      const std::size_t least = earliest(first);
      if (!events_[least].before(event)) break;
      events_[hole] = events_[least];
      hole = least;
    }
    events_[hole] = event;
  }
  /// Returns the index of the earliest of the four siblings from index `first` on.
  [[nodiscard]] std::size_t earliest(std::size_t first) const {
    const std::size_t end = std::min(first + children, events_.size());
    std::size_t least = first;
    for (std::size_t i = first + 1; i < end; ++i) {
      if (events_[i].before(events_[least])) least = i;
    }
    return least;
  }

  std::vector<Event> events_;
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Something that wants to be called at an instant. `tag` is what it passed to EventLoop::at.
class EventTarget {
 public:
  virtual void on_event(std::uint64_t tag, Instant now) = 0;

 protected:
  ~EventTarget() = default;
};

/// The only source of time in the emulator. Events at the same instant run in the order in which they were set, so a
/// run is a function of its inputs. Driven in virtual time by run_until() alone; in real time by a poll thread that
/// calls run_until(clock) again and again. Thread: one.
class EventLoop {
 public:
  [[nodiscard]] Instant now() const { return now_; }
  /// Calls target.on_event(tag, when) at `when` (at once, in order, when that is in the past). The target must outlive
  /// it.
  void at(Instant when, EventTarget& target, std::uint64_t tag = 0) {
    events_.push({when < now_ ? now_ : when, order_++, &target, tag});
  }
  [[nodiscard]] Instant next() const { return events_.empty() ? never : events_.top().when; }
  /// Runs everything due up to and including `end`; now() is `end` afterwards.
  void run_until(Instant end) {
    while (!events_.empty() && events_.top().when <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.when;
      event.target->on_event(event.tag, now_);
    }
    if (now_ < end) now_ = end;
  }

 private:
  struct Event {
    Instant when;
    std::uint64_t order;
    EventTarget* target;
    std::uint64_t tag;
    bool operator>(const Event& other) const { return when != other.when ? when > other.when : order > other.order; }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  Instant now_{};
};

}  // namespace sluice::emulator

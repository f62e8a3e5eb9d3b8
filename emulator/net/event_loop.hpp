#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/net/event_queue.hpp"

namespace sluice::emulator {

/// The only source of time in the emulator. Events at one instant run in the order in which they were scheduled, so a
/// run depends on its inputs only. In virtual time, run_until() alone advances the time; in real time a poll thread
/// calls run_until(clock) repeatedly. Thread: one.
class EventLoop {
 public:
  /// Returns the emulator's present time.
  [[nodiscard]] Instant now() const { return now_; }
  /// Schedules an event: target.on_event(tag, when) is called at `when`. If `when` is in the past, the event runs at
  /// the current time, after the events that are already scheduled for it. The target must outlive the event.
  void at(Instant when, EventTarget& target, std::uint64_t tag = 0) {
    const Event event{when < now_ ? now_ : when, order_++, &target, tag};
    if (spent_) {
      spent_ = false;
      events_.replace_front(event);
    } else {
      events_.push(event);
    }
  }
  /// Returns when the next event is due; `never` if there is none. Must not be called from an event, because the
  /// running event is still at the front of the queue.
  [[nodiscard]] Instant next() const { return events_.empty() ? never : events_.front().when; }
  /// Runs all events up to and including `end`; now() is `end` afterwards.
  void run_until(Instant end) {
    for (drop_spent(); !events_.empty() && events_.front().when <= end; drop_spent()) {
      const Event& event = events_.front();
      spent_ = true;
      now_ = event.when;
      event.target->on_event(event.tag, now_);
    }
    if (now_ < end) now_ = end;
  }

 private:
  /// Removes the event at the front of the queue, if it has run already.
  void drop_spent() {
    if (!spent_) return;
    spent_ = false;
    events_.pop();
  }

  EventQueue events_;
  /// True if the event at the front of the queue has run or is running. The next scheduled event then replaces it.
  bool spent_ = false;
  std::uint64_t order_ = 0;  ///< number of events scheduled so far; it orders events of one instant
  Instant now_{};
};

}  // namespace sluice::emulator

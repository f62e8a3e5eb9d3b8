#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/net/event_queue.hpp"

namespace sluice::emulator {

/// The only source of time in the emulator. Events at the same instant run in the order in which they were set, so a
/// run is a function of its inputs. Driven in virtual time by run_until() alone; in real time by a poll thread that
/// calls run_until(clock) again and again. Thread: one.
class EventLoop {
 public:
  [[nodiscard]] Instant now() const { return now_; }
  /// Calls target.on_event(tag, when) at `when` (at once, in order, when that is in the past). The target must outlive
  /// it.
  void at(Instant when, EventTarget& target, std::uint64_t tag = 0) {
    const Event event{when < now_ ? now_ : when, order_++, &target, tag};
    if (spent_) {
      spent_ = false;
      events_.replace_front(event);
    } else {
      events_.push(event);
    }
  }
  /// When the next event is due; not to be asked by one that runs.
  [[nodiscard]] Instant next() const { return events_.empty() ? never : events_.front().when; }
  /// Runs everything due up to and including `end`; now() is `end` afterwards.
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
  void drop_spent() {
    if (!spent_) return;
    spent_ = false;
    events_.pop();
  }

  EventQueue events_;
  bool spent_ = false;  ///< the front is the event that runs, or ran: the next one that is set takes its place
  std::uint64_t order_ = 0;
  Instant now_{};
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// Callback by which a TtiClock runs each TTI in which there is work.
class TtiUser {
 public:
  /// Processes TTI `tti`, which begins now. Returns the next TTI in which there is work; TtiClock::asleep if none is
  /// known.
  virtual std::uint64_t run_tti(std::uint64_t tti, Instant now) = 0;

 protected:
  ~TtiUser() = default;
};

/// Clock of a Node-B's TTIs; it schedules an event for the next TTI in which there is work. TTI n begins n TTI lengths
/// after the event loop's origin. TTIs without work are skipped. Thread: the event loop's.
class TtiClock final : public EventTarget {
 public:
  /// Value that stands for "no TTI with work" where a TTI number is expected.
  static constexpr std::uint64_t asleep = UINT64_MAX;

  /// Creates a clock that runs no TTI yet. `loop` and `user` must outlive it. Throws std::invalid_argument unless `tti`
  /// > 0.
  TtiClock(EventLoop& loop, Duration tti, TtiUser& user);

  [[nodiscard]] Duration tti() const { return tti_; }
  /// Returns the TTI that contains `at`.
  [[nodiscard]] std::uint64_t tti_of(Instant at) const {
    return static_cast<std::uint64_t>(at.time_since_epoch() / tti_);
  }
  /// Returns the instant at which TTI `tti` begins.
  [[nodiscard]] Instant begin_of(std::uint64_t tti) const {
    return Instant(Duration(static_cast<Duration::rep>(tti) * tti_.count()));
  }
  /// Returns the first TTI that begins at `at` or later.
  [[nodiscard]] std::uint64_t first_from(Instant at) const { return tti_of(at + tti_ - Duration(1)); }
  /// Returns the first TTI that begins after the event loop's current time.
  [[nodiscard]] std::uint64_t next() const { return tti_of(loop_.now()) + 1; }
  /// Returns the number of TTIs that began before `now`. A TTI that begins at `now` may still have to run.
  [[nodiscard]] std::uint64_t passed(Instant now) const;

  /// Requests that TTI `tti` runs next; it must not have run yet. If an earlier TTI is already requested, that TTI runs
  /// instead. TtiUser::run_tti() then returns which TTI is next.
  void wake_at(std::uint64_t tti);
  /// Runs TTI number `tag`, unless an earlier TTI was requested instead. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

 private:
  EventLoop& loop_;
  Duration tti_;
  TtiUser& user_;
  std::uint64_t next_to_run_ = asleep;  ///< number of the TTI that runs next; events for other TTIs are ignored
};

}  // namespace sluice::emulator

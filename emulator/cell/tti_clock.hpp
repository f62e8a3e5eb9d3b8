#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// Whose TTIs a TtiClock runs.
class TtiUser {
 public:
  /// TTI `tti` begins. Returns the next one that has to run; TtiClock::asleep when none is known of.
  virtual std::uint64_t run_tti(std::uint64_t tti, Instant now) = 0;

 protected:
  ~TtiUser() = default;
};

/// The TTIs of a Node-B and the one that runs next. TTI n begins at n times the TTI's length. TTIs in which nothing
/// has to happen are passed over. Thread: the loop's.
class TtiClock final : public EventTarget {
 public:
  static constexpr std::uint64_t asleep = UINT64_MAX;

  /// Throws std::invalid_argument unless `tti` > 0. `loop` and `user` outlive it.
  TtiClock(EventLoop& loop, Duration tti, TtiUser& user);

  [[nodiscard]] Duration tti() const { return tti_; }
  /// The TTI that `at` lies in.
  [[nodiscard]] std::uint64_t tti_of(Instant at) const {
    return static_cast<std::uint64_t>(at.time_since_epoch() / tti_);
  }
  /// When TTI `tti` begins.
  [[nodiscard]] Instant begin_of(std::uint64_t tti) const {
    return Instant(Duration(static_cast<Duration::rep>(tti) * tti_.count()));
  }
  /// The first TTI that begins at `at` or later.
  [[nodiscard]] std::uint64_t first_from(Instant at) const { return tti_of(at + tti_ - Duration(1)); }
  /// The first TTI that begins after the loop's now.
  [[nodiscard]] std::uint64_t next() const { return tti_of(loop_.now()) + 1; }
  /// TTIs that have begun before `now`; one that begins now may still have to run.
  [[nodiscard]] std::uint64_t passed(Instant now) const;

  /// TTI `tti`, which has not run, runs unless an earlier one does, after which its user is asked again.
  void wake_at(std::uint64_t tti);
  void on_event(std::uint64_t tag, Instant now) override;

 private:
  EventLoop& loop_;
  Duration tti_;
  TtiUser& user_;
  std::uint64_t next_to_run_ = asleep;  ///< events of the loop for any other are void
};

}  // namespace sluice::emulator

#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Parameters of discontinuous reception (DRX) with the long cycle only (TS 36.321 and TS 38.321, section 5.7). The
/// defaults are common values of TS 36.331 section 6.3.2: psf100, psf10, sf320.
struct DrxParameters {
  Duration inactivity = std::chrono::milliseconds(100);  ///< time awake after the last grant in either direction, >= 0
  Duration on = std::chrono::milliseconds(10);           ///< time awake at the start of every cycle, > 0
  Duration cycle = std::chrono::milliseconds(320);       ///< length of a DRX cycle, >= on
};

/// Callback for the activity of a UE that uses DRX.
class DrxUser {
 public:
  /// Called when the UE sends a scheduling request or is granted a TTI, perhaps while asleep. The UE is awake from
  /// `now` on, until no such activity has occurred for DrxParameters::inactivity.
  virtual void on_active(Instant now) = 0;

 protected:
  ~DrxUser() = default;
};

/// Discontinuous reception of one UE: computes when the UE receives. The UE is asleep at first, except in the
/// on-durations of its cycles. Pure: time is an argument.
class Drx {
 public:
  /// Creates the state of a sleeping UE. `offset` is the phase of its cycles, 0 … cycle. Throws std::invalid_argument
  /// if a parameter is out of its range.
  explicit Drx(const DrxParameters& parameters, Duration offset = Duration::zero());
  /// Sets the object that is notified of activity; null removes it.
  void set_user(DrxUser* user) { user_ = user; }

  /// Records activity: the UE sends a scheduling request or is granted a TTI, in either direction.
  void active(Instant now);
  /// True if the UE receives at the time `at`, even if no activity wakes it before that time.
  [[nodiscard]] bool awake(Instant at) const { return next_awake(at) == at; }
  /// Returns the first instant from `from` on at which the UE receives, if no activity wakes it earlier.
  [[nodiscard]] Instant next_awake(Instant from) const;

 private:
  DrxParameters parameters_;
  Duration offset_;
  Instant active_until_{};  ///< end of the time awake after the latest activity
  DrxUser* user_ = nullptr;
};

}  // namespace sluice::emulator

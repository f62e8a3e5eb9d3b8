#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Window of the ACK-based controller during slow start, and during a refill of the path. A refill follows a drain,
/// which has emptied the path, or a step to a longer path. The window grows by the delivered bytes, so it doubles per
/// round trip. is_full_pipe() reports that the rate has stopped growing. The owner then ends slow start, and also if
/// packets wait longer than the target delay. Reads no clock. Not thread-safe.
class SlowStart {
 public:
  /// Begins slow start with `window` > 0 bytes.
  explicit SlowStart(double window) : window_(window) {}

  /// True in slow start.
  [[nodiscard]] bool searching() const { return phase_ == Phase::searching; }
  /// True during a refill: the window grows again after a drain has emptied the path, or after the path has become
  /// longer.
  [[nodiscard]] bool refilling() const { return phase_ == Phase::refilling; }
  /// Returns the window, in bytes, of the latest slow start or refill of the path. The value has no meaning outside
  /// slow start and refill.
  [[nodiscard]] double window() const { return window_; }

  /// Restarts slow start from `window` bytes and discards earlier state.
  void search(double window);
  /// Starts a refill of an emptied or longer path from a window of `window` bytes.
  void refill(double window);
  /// Ends a refill of an emptied or longer path. Has no effect in slow start.
  void stop_refilling() {
    if (refilling()) phase_ = Phase::over;
  }
  /// Ends slow start, or the refill that follows a drain or a step to a longer path.
  void end() { phase_ = Phase::over; }

  /// Raises the window to at least `in_flight` bytes.
  void raise_window(Bytes in_flight);
  /// Grows the window by `delivered` bytes.
  void on_delivered(Bytes delivered) { window_ += static_cast<double>(delivered.count()); }
  /// True if the path is full: in three successive rounds the delivery rate stayed below 1.25 times the rate of an
  /// earlier round. This is BBR's test for a full pipe. `delivered` is the mean delivery rate, and `round` the length
  /// of a round. A sample that the controller's window does not limit (`uses_window` is false) restarts the test.
  [[nodiscard]] bool is_full_pipe(Instant now, Rate delivered, Duration round, bool uses_window);

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  enum class Phase : std::uint8_t { searching, refilling, over };

  double window_;
  Instant round_ends_{};  ///< end of the current round (about one round trip), in which is_full_pipe() compares the
                          ///< delivery rate
  /// Delivery rate of an earlier round in bytes/s, with which later rates are compared. If a rate reaches 1.25 times
  /// this value, the rate is still growing.
  double full_bw_ = 0;
  std::uint8_t full_bw_count_ = 0;  ///< number of successive rounds whose rate was below 1.25 times `full_bw_`
  Phase phase_ = Phase::searching;
};

}  // namespace sluice::control

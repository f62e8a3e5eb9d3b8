#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Window during slow start, and while the path is refilled after its queue was drained. It grows by the delivered
/// bytes, so it doubles per round trip.
/// Slow start ends if the rate stops growing. The owner also ends it if packets wait longer than intended. Reads no
/// clock; thread: its owner's.
class SlowStart {
 public:
  /// Begins slow start with `window` > 0 bytes.
  explicit SlowStart(double window) : window_(window) {}

  /// True in slow start.
  [[nodiscard]] bool searching() const { return phase_ == Phase::searching; }
  /// True during a refill.
  [[nodiscard]] bool refilling() const { return phase_ == Phase::refilling; }
  /// Returns the window of the latest slow start or refill, in bytes.
  [[nodiscard]] double window() const { return window_; }

  /// Restarts slow start from `window` bytes and discards earlier state.
  void search(double window);
  /// Starts a refill of the path from `window` bytes.
  void refill(double window);
  /// Ends a refill of the path, but not a slow start.
  void stop_refilling() {
    if (refilling()) phase_ = Phase::over;
  }
  /// Ends slow start or a refill.
  void end() { phase_ = Phase::over; }

  /// Raises the window to at least `in_flight`.
  void raise_window(Bytes in_flight);
  /// Grows the window by `delivered` bytes.
  void on_delivered(Bytes delivered) { window_ += static_cast<double>(delivered.count()); }
  /// True if the pipe is full: doubling the window in each of three rounds raised the rate by less than a quarter.
  /// `delivered` is the rate and `round` the length of a round. Samples without `uses_window` restart the test.
  [[nodiscard]] bool is_full_pipe(Instant now, Rate delivered, Duration round, bool uses_window);

  /// Calls `visit` with each state member and its name, for recorded decisions (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  enum class Phase : std::uint8_t { searching, refilling, over };

  double window_;
  Instant round_ends_{};  ///< end of the present round of is_full_pipe()
  double full_bw_ = 0;    ///< rate in bytes/s that must be exceeded by a quarter, or the round counts as without growth
  std::uint8_t full_bw_count_ = 0;  ///< successive rounds whose rate did not exceed `full_bw_` by a quarter
  Phase phase_ = Phase::searching;
};

}  // namespace sluice::control

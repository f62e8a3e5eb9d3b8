#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// The window while a link is searched for, and while its way is filled again after the queue was drained: it grows by
/// what is delivered, which doubles it with each round trip. A search ends where the rate grows no more; its owner ends
/// it as well, where a packet has waited for longer than it is to. No clock inside; thread: its owner's.
class SlowStart {
 public:
  /// The search begins with so many bytes, > 0.
  explicit SlowStart(double window) : window_(window) {}

  [[nodiscard]] bool searching() const { return phase_ == Phase::searching; }
  [[nodiscard]] bool refilling() const { return phase_ == Phase::refilling; }
  /// Bytes; of the newest search or refilling.
  [[nodiscard]] double window() const { return window_; }

  /// The link is searched for with so many bytes at first, whatever was before.
  void search(double window);
  /// The way is filled again, with so many bytes at first.
  void refill(double window);
  void stop_refilling() {
    if (refilling()) phase_ = Phase::over;
  }
  void end() { phase_ = Phase::over; }

  /// The window is no less.
  void let_have(Bytes under_way);
  void on_delivered(Bytes delivered) { window_ += static_cast<double>(delivered.count()); }
  /// Twice the window in each of three rounds has not brought a quarter more. The rate is `delivered`, a round lasts
  /// for `round`, and what does not use the window shows nothing.
  [[nodiscard]] bool grows_no_more(Instant now, Rate delivered, Duration round, bool uses_window);

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  enum class Phase : std::uint8_t { searching, refilling, over };

  double window_;
  Instant round_ends_{};
  double to_exceed_ = 0;          ///< bytes/s, by a quarter
  std::uint8_t flat_rounds_ = 0;  ///< in a row that did not
  Phase phase_ = Phase::searching;
};

}  // namespace sluice::control

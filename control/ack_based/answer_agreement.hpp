#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Compares the number of answers that a UE sends with the number that is expected from the datagrams sent to it. The
/// numbers differ if other datagrams of the UE are among the answers, or if the receiver has changed. Reads no clock;
/// thread: its owner's.
class AnswerAgreement {
 public:
  /// Records a datagram to the UE. One answer is expected for `per_answer` datagrams. If the proxy has dropped the
  /// datagram before this one (`is_behind_drop`), the UE detects the gap and answers at once.
  void on_sent(double per_answer, bool is_behind_drop) {
    constexpr double fraction_tolerance = 1e-6;
    unanswered_ += 1;
    if (!is_behind_drop && unanswered_ < per_answer - fraction_tolerance) return;
    ++expected_;
    unanswered_ = is_behind_drop ? 0 : std::max(0.0, unanswered_ - per_answer);
  }
  void on_answer() { ++came_; }
  /// Sets the number of datagrams since the last expected answer to zero. Called when the number of datagrams per
  /// answer has just become known.
  void restart_datagrams() { unanswered_ = 0; }
  /// Restarts the comparison, because the number of datagrams per answer is sought again. ratio() is 1 then.
  void restart() { *this = {}; }
  /// Ends the present period if it has lasted 2 s and has 256 answers, and begins the next one. Returns true if ratio()
  /// was updated. The first such call only begins a period.
  [[nodiscard]] bool update(Instant now) {
    if (came_ < min_answers || now - began_ < min_period) return false;
    const bool is_first = began_ == Instant{};
    if (!is_first) ratio_ += (static_cast<double>(expected_) / came_ - ratio_) / 2;
    began_ = now;
    expected_ = came_ = 0;
    return !is_first;
  }
  /// Returns the number of expected answers divided by the number received, averaged over periods; 1 before the first
  /// one.
  [[nodiscard]] double ratio() const { return ratio_; }

 private:
  static constexpr Duration min_period = std::chrono::seconds(2);
  static constexpr std::uint32_t min_answers = 256;

  Instant began_{};  ///< start of the period; zero before the first one
  std::uint32_t expected_ = 0;
  std::uint32_t came_ = 0;
  double unanswered_ = 0;  ///< datagrams since the last expected answer
  double ratio_ = 1;
};

}  // namespace sluice::control

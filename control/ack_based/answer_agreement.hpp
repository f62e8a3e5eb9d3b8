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
  /// Records a datagram to the UE. `per_answer` is the number of datagrams for which an answer is expected. A datagram
  /// behind one that the proxy has dropped is answered at once.
  void on_sent(double per_answer, bool is_behind_drop) {
    constexpr double fraction_tolerance = 1e-6;
    unanswered_ += 1;
    if (!is_behind_drop && unanswered_ < per_answer - fraction_tolerance) return;
    ++expected_;
    unanswered_ = is_behind_drop ? 0 : std::max(0.0, unanswered_ - per_answer);
  }
  void on_answer() { ++came_; }
  /// Begins a new count up to the next answer, because the number of datagrams per answer has just become known.
  void restart_datagrams() { unanswered_ = 0; }
  /// Discards the result of earlier periods and the current period.
  void restart() { *this = {}; }
  /// Ends the period if it is long enough, and returns true if ratio() was updated. The first period only begins.
  [[nodiscard]] bool update(Instant now) {
    if (came_ < min_answers || now - began_ < min_period) return false;
    const bool is_first = began_ == Instant{};
    if (!is_first) ratio_ += (static_cast<double>(expected_) / came_ - ratio_) / 2;
    began_ = now;
    expected_ = came_ = 0;
    return !is_first;
  }
  /// Returns the mean number of expected answers divided by the number of those that came.
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

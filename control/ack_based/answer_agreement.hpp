#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Compares how many answers a UE sends with how many are expected for the datagrams sent to it. An answer is a short
/// datagram from the UE, probably an encrypted acknowledgement (QUIC). The two numbers differ if other short datagrams
/// are counted as answers, or if the receiver has changed how often it acknowledges. Reads no clock. Not thread-safe.
class AnswerAgreement {
 public:
  /// Records a datagram sent to the UE. One answer (short datagram from the UE) is expected for every `per_answer`
  /// datagrams. If `is_behind_drop` is true, the proxy has dropped the datagram before this one. The UE then detects
  /// the gap and answers at once.
  void on_sent(double per_answer, bool is_behind_drop) {
    constexpr double fraction_tolerance = 1e-6;
    unanswered_ += 1;
    if (!is_behind_drop && unanswered_ < per_answer - fraction_tolerance) return;
    ++expected_;
    unanswered_ = is_behind_drop ? 0 : std::max(0.0, unanswered_ - per_answer);
  }
  void on_answer() { ++came_; }
  /// Sets the number of datagrams since the last expected answer to zero. Called when the number of datagrams per
  /// answer has just become known, because earlier datagrams were counted with an assumed number.
  void restart_datagrams() { unanswered_ = 0; }
  /// Restarts the comparison of expected and received answers (short datagrams from the UE), and sets ratio() to 1.
  /// Called when the number of datagrams per answer is learned again.
  void restart() { *this = {}; }
  /// Ends the present measuring period if it has lasted for at least 2 s and contains at least 256 answers (short
  /// datagrams from the UE). Returns true if ratio() was updated. The first call that ends a period updates nothing,
  /// because the time at which that period began is unknown.
  [[nodiscard]] bool update(Instant now) {
    if (came_ < min_answers || now - began_ < min_period) return false;
    const bool is_first = began_ == Instant{};
    if (!is_first) ratio_ += (static_cast<double>(expected_) / came_ - ratio_) / 2;
    began_ = now;
    expected_ = came_ = 0;
    return !is_first;
  }
  /// Returns the number of expected answers divided by the number received; 1 before the first result. It is a mean
  /// over measuring periods of 2 s or more, in which recent periods weigh most.
  [[nodiscard]] double ratio() const { return ratio_; }

 private:
  static constexpr Duration min_period = std::chrono::seconds(2);
  static constexpr std::uint32_t min_answers = 256;

  Instant began_{};  ///< start of the present measuring period of ratio(); zero before the first period
  std::uint32_t expected_ = 0;
  std::uint32_t came_ = 0;
  double unanswered_ = 0;  ///< datagrams sent since the last one for which an answer was expected
  double ratio_ = 1;
};

}  // namespace sluice::control

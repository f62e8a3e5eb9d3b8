#pragma once

#include <algorithm>
#include <utility>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Decides for how long no answer (short datagram from the UE) must arrive until the UE's radio queue counts as empty.
/// Reads no clock. Not thread-safe.
class AnswerSilence {
 public:
  /// Time without an answer, in addition to margin(), after which the radio queue counts as empty if answers are still
  /// expected. It exceeds the 25 ms by which a QUIC receiver may delay an acknowledgement (RFC 9000 section 18.2).
  static constexpr Duration expected = std::chrono::milliseconds(30);
  /// Time without an answer, in addition to margin(), after which the radio queue counts as empty if all expected
  /// answers have come.
  static constexpr Duration unexpected = std::chrono::milliseconds(4);
  /// Longest time without an answer until the radio queue counts as empty, even if the mean time between answers is
  /// long.
  static constexpr Duration max = std::chrono::milliseconds(150);

  explicit AnswerSilence(Instant now) : last_(now), before_last_(now) {}

  /// Records an answer (short datagram from the UE). `is_regular` is true if datagrams were sent without a pause. Only
  /// then does the time since the previous answer enter the mean gap().
  void on_answer(Instant now, bool is_regular) {
    constexpr Duration max_gap = std::chrono::milliseconds(200);
    const Duration gap = now - last_;
    if (is_regular && gap < max_gap) gap_ += (gap - gap_) / 16;
    before_last_ = std::exchange(last_, now);
  }
  /// Returns the time without an answer after which the radio queue counts as empty. `expects` is true if answers to
  /// datagrams in flight are expected.
  [[nodiscard]] Duration time(bool expects) const {
    return std::min((expects ? expected : unexpected) + margin(), max);
  }
  /// Returns the part of time() that allows for irregular answers: four times the mean time between two answers.
  [[nodiscard]] Duration margin() const { return 4 * gap_; }
  /// Returns the mean time between two answers (short datagrams from the UE).
  [[nodiscard]] Duration gap() const { return gap_; }
  /// Returns the time of the newest answer (short datagram from the UE).
  [[nodiscard]] Instant last() const { return last_; }
  /// Returns the time of the second newest answer (short datagram from the UE).
  [[nodiscard]] Instant before_last() const { return before_last_; }

 private:
  Instant last_;
  Instant before_last_;
  Duration gap_ = std::chrono::milliseconds(5);
};

}  // namespace sluice::control

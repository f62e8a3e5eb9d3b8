#pragma once

#include <algorithm>
#include <utility>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Computes for how long a UE must send no answer (short datagram, probably an encrypted acknowledgement) until its
/// radio queue counts as empty. Reads no clock. Not thread-safe.
class AnswerSilence {
 public:
  /// Time without an answer after which the radio queue counts as empty if answers are still expected. margin(), four
  /// times the mean time between answers, is added. The time exceeds the 25 ms by which a QUIC receiver may delay an
  /// acknowledgement (RFC 9000 section 18.2).
  static constexpr Duration expected = std::chrono::milliseconds(30);
  /// Time without an answer after which the radio queue counts as empty if all expected answers have come. margin(),
  /// four times the mean time between answers, is added.
  static constexpr Duration unexpected = std::chrono::milliseconds(4);
  /// Upper limit of the time without an answer after which the radio queue counts as empty. It applies if the mean time
  /// between two answers is long.
  static constexpr Duration max = std::chrono::milliseconds(150);

  explicit AnswerSilence(Instant now) : last_(now), before_last_(now) {}

  /// Records an answer (short datagram from the UE). `is_regular` is true if datagrams were sent without a pause. Only
  /// then, and if it is below 200 ms, does the time since the previous answer change the mean gap().
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
  /// Returns the part of time() that allows for answers at irregular distances: four times the mean time between two
  /// answers.
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

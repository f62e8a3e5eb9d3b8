#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Learns how many datagrams one answer of a UE stands for. An answer is a short datagram, probably an encrypted
/// acknowledgement. The input is a series of *counts*: the numbers of datagrams and of their answers between two
/// instants at which every datagram had been answered. The *ratio* of a count is its datagrams divided by its answers.
///
/// Most receivers answer every second or every tenth datagram. The ratios are then near this whole number. A receiver
/// that reads several datagrams at once answers them together, so its ratios are near no whole number. If they differ
/// little, their mean is the result, and further counts correct it.
///
/// A result that is too small does more harm than one that is too large. With the former, delivered bytes seem to be in
/// flight, so the link is idle. With the latter, the radio queue only grows until the next hold (pause of the flow that
/// empties it).
///
/// Memory and work per count are constant. Not thread-safe.
class DatagramsPerAnswer {
 public:
  /// Adds a count: `datagrams` were sent, and `answers` came to exactly these datagrams. `answer_gap` is the mean time
  /// between two answers.
  void add(double datagrams, double answers, Duration answer_gap);
  /// Discards all counts (numbers of datagrams and of their answers) and the result, because the receiver has changed
  /// how it acknowledges. value() keeps the last number as an estimate.
  void restart();

  /// True if value() was learned from counts (numbers of datagrams and of their answers), and is not only an estimate.
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// Returns the number of datagrams per answer (short datagram from the UE). While unknown, returns the last estimate,
  /// at first 2.
  [[nodiscard]] double value() const { return value_; }
  /// True if the receiver answers each n-th datagram for a whole number n. value() is n, or a little more while recent
  /// ratios exceed n. False if value() is a mean of ratios.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// True if recent ratios (datagrams divided by answers) exceed the learned whole number. AnswerClock then begins its
  /// next hold (pause of the flow) after 1 s, because a further count confirms or refutes this.
  [[nodiscard]] bool exceeds_whole() const { return is_whole_ && (ratio_above_ > 0 || corrected_counts_ > 0); }

 private:
  static constexpr std::uint32_t max_ratios = 4;

  void seek(double datagrams, double answers, Duration answer_gap);
  void correct_whole(double ratio);
  void correct_mean(double datagrams, double answers);

  bool is_known_ = false;
  bool is_whole_ = true;
  std::uint8_t ratio_count_ = 0;  ///< number of valid elements of `ratios_`
  std::uint8_t ratio_next_ = 0;   ///< element of ratios_ that the next ratio replaces
  /// number of counts in summed_datagrams_ and summed_answers_ before a result is known
  std::uint8_t summed_counts_ = 0;
  /// Number of further counts (of datagrams and their answers) for which larger ratios may replace `whole_`.
  std::uint8_t corrected_counts_ = 0;
  double value_ = 2;
  double whole_ = 0;  ///< whole number with which the ratios (datagrams divided by answers) agreed
  /// Last ratio (datagrams divided by answers) if it was clearly above whole_, the known whole number; else zero. Two
  /// such ratios in sequence show that whole_ is too small.
  double ratio_above_ = 0;
  /// Mean deviation of the ratios from `value_`, as a share of it, while `value_` is a mean.
  double deviation_ = 0;
  double summed_datagrams_ = 0;              ///< datagrams of all counts; if value_ is a mean, older counts weigh less
  double summed_answers_ = 0;                ///< answers to summed_datagrams_
  std::array<double, max_ratios> ratios_{};  ///< last ratios (datagrams divided by answers) before a result is known
};

}  // namespace sluice::control

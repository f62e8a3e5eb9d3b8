// Number of datagrams for which one answer of a UE stands. AnswerClock adds a count after each hold. Invariant: once a
// whole number is known, only ratios above it change the result, because an unexpected answer only lowers a ratio.
#include "control/ack_based/datagrams_per_answer.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace sluice::control {
namespace {

/// Largest ratio (datagrams divided by answers) that agrees with a whole number n, as a multiple of n.
constexpr double above_whole = 1.015;
/// Smallest ratio (datagrams divided by answers) that agrees with a whole number n ≤ 2, as a multiple of n. It is
/// farther from 1 than `above_whole`, because unexpected answers make a ratio smaller.
constexpr double below_few = 0.95;
/// Smallest ratio (datagrams divided by answers) that agrees with a whole number n > 2, as a multiple of n.
constexpr double below_many = 0.98;
/// Number of measurements after which a mean may be accepted, if no two of their ratios (datagrams divided by answers)
/// agree on a whole number. The mean is the sum of all datagrams divided by the sum of all answers.
constexpr std::uint8_t min_summed_counts = 3;
/// Largest quotient of the largest and the smallest ratio (datagrams divided by answers) with which their mean is used.
/// Ratios that differ more give no result.
constexpr double max_spread = 1.12;
/// Factor by which a mean number of datagrams per answer is raised, because a number that is too small leaves the link
/// idle.
constexpr double mean_bias = 1.02;
/// Factor that multiplies the earlier sums of datagrams and of answers at each new count. It is below 1, so that the
/// quotient of the sums follows a receiver that changes how often it acknowledges.
constexpr double sum_memory = 0.7;
/// Largest mean deviation of the ratios (datagrams divided by answers) from their mean, as a share of the mean. If the
/// deviation is larger, the mean is discarded.
constexpr double max_deviation = 0.07;
/// Share by which a ratio (datagrams divided by answers) must exceed the learned whole number to count as larger. After
/// two such ratios in sequence, the larger one replaces the whole number.
constexpr double max_above_whole = 0.004;
/// Number of further counts for which larger ratios may replace the learned whole number, after two successive ratios
/// have exceeded it. A count has the numbers of datagrams and of their answers; their quotient is the ratio. After
/// these counts the whole number applies again.
constexpr std::uint8_t max_corrected_counts = 20;
/// Largest number of datagrams per answer that is accepted.
constexpr double max_value = 16;
/// Mean time between two answers below which more than two datagrams per answer are accepted. At longer times the
/// receiver's ACK timer may cause the answers; 25 ms is the default of this timer (RFC 9000 section 18.2).
constexpr Duration min_timer = std::chrono::milliseconds(20);

/// True if `ratio` (datagrams divided by answers) agrees with the whole number `whole`. Unexpected answers may make the
/// ratio smaller, so a smaller ratio has a larger tolerance.
bool is_close(double ratio, double whole) {
  return ratio <= above_whole * whole && ratio >= (whole <= 2 ? below_few : below_many) * whole;
}

/// Finds the largest whole number with which at least two of the ratios (datagrams divided by answers) agree. Returns
/// false if there is none.
bool agree_on_whole(std::span<const double> ratios, double& found) {
  double best = 0;
  for (const double ratio : ratios) {
    for (const double whole : {std::max(std::round(ratio), 1.0), std::ceil(ratio)}) {
      const auto close =
          std::count_if(ratios.begin(), ratios.end(), [whole](double other) { return is_close(other, whole); });
      if (close >= 2) best = std::max(best, whole);
    }
  }
  if (best > 0) found = best;
  return best > 0;
}

}  // namespace

void DatagramsPerAnswer::add(double datagrams, double answers, Duration answer_gap) {
  if (!is_known_) {
    seek(datagrams, answers, answer_gap);
  } else if (is_whole_) {
    correct_whole(datagrams / answers);
  } else {
    correct_mean(datagrams, answers);
  }
}

/// Seeks a whole number with which two ratios (datagrams divided by answers) agree, or else the mean of ratios that
/// differ little.
void DatagramsPerAnswer::seek(double datagrams, double answers, Duration answer_gap) {
  ratios_[ratio_next_] = datagrams / answers;
  ratio_next_ = static_cast<std::uint8_t>((ratio_next_ + 1) % max_ratios);
  ratio_count_ = static_cast<std::uint8_t>(std::min<std::size_t>(ratio_count_ + 1U, max_ratios));
  const std::span<const double> recent = std::span(ratios_).first(ratio_count_);
  // A link that pauses may look empty. The next ratio then errs in the other direction, so the sum is nearly right.
  summed_datagrams_ += datagrams;
  summed_answers_ += answers;
  ++summed_counts_;
  const double sum = summed_datagrams_ / summed_answers_;
  is_whole_ = true;
  is_known_ = agree_on_whole(recent, value_);
  if (!is_known_ && summed_counts_ >= min_summed_counts) {
    const double whole = std::max(std::round(sum), 1.0);
    is_whole_ = is_close(sum, whole);
    const auto [least, most] = std::minmax_element(recent.begin(), recent.end());
    is_known_ = is_whole_ || *most <= max_spread * *least;
    value_ = is_whole_ ? whole : std::max(sum * mean_bias, 1.0);
  }
  is_known_ = is_known_ && (value_ <= 2 || (value_ <= max_value && answer_gap < min_timer));
  if (is_whole_) whole_ = value_;
}

/// Replaces the learned whole number by the larger of two successive ratios (datagrams divided by answers) if both
/// exceed it. Two in sequence show that the receiver answers less often than that number states.
void DatagramsPerAnswer::correct_whole(double ratio) {
  const double before = std::exchange(ratio_above_, ratio > (1 + max_above_whole) * whole_ ? ratio : 0);
  if (before > 0 && ratio_above_ > 0) corrected_counts_ = max_corrected_counts;
  if (corrected_counts_ > 0) --corrected_counts_;
  value_ = std::max(corrected_counts_ > 0 ? std::max(ratio_above_, before) : 0, whole_);
}

/// Adds a count (numbers of datagrams and of their answers) to the mean number of datagrams per answer. Discards the
/// mean if the counts vary too much.
void DatagramsPerAnswer::correct_mean(double datagrams, double answers) {
  const double change = datagrams / answers / value_ - 1;
  deviation_ += (std::abs(change) - deviation_) / 4;
  if (deviation_ > max_deviation) {
    is_known_ = false;
    return;
  }
  summed_datagrams_ = summed_datagrams_ * sum_memory + datagrams;
  summed_answers_ = summed_answers_ * sum_memory + answers;
  value_ = std::max(summed_datagrams_ / summed_answers_ * mean_bias, 1.0);
}

void DatagramsPerAnswer::restart() {
  const double last = value_;
  *this = {};
  value_ = last;
}

}  // namespace sluice::control

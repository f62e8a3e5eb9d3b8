// Counts the answers of a UE as acknowledgements. CrossTrafficSender reports what it sends and drops, and asks whether
// the flow must pause. Forwarder reports the answers. Invariant: in_flight_ is the sum of the bytes of all runs.
#include "control/ack_based/answer_clock.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Time without an answer from the UE after which its radio queue counts as empty, while answers to sent datagrams are
/// still missing. It exceeds the 25 ms by which a QUIC receiver may delay an acknowledgement (RFC 9000 section 18.2).
constexpr Duration expected_silence = milliseconds(30);
/// Time without an answer from the UE after which its radio queue counts as empty, if no expected answer is missing.
constexpr Duration unexpected_silence = milliseconds(4);
/// Factor of the mean time between two answers. The product is added to `expected_silence` and `unexpected_silence`.
constexpr int silent_gaps = 4;
/// Shortest time without an answer after which a hold (nothing of the flow is sent) begins although the window is full.
/// The number of bytes in flight may then be wrong.
constexpr Duration min_stall = milliseconds(250);
/// Assumed round trip without a queue until it is measured. A probe (datagrams sent after a hold) waits for its answer
/// by this time longer, doubled for each earlier probe without an answer.
constexpr Duration unknown_base = milliseconds(50);
/// Longest hold (time in which nothing of the flow is sent), in addition to the base delay. A longer hold has no use,
/// because answers that continue for this time come from a link that stalls.
constexpr Duration max_hold = milliseconds(300);
/// Longest hold, in addition to the base delay, in two cases. More answers come than for the datagrams counted in
/// flight, or the number of datagrams per answer is unknown.
constexpr Duration max_long_hold = seconds(2);
/// Number of holds for which a hold that has not emptied the radio queue counts, in addition to itself. Such a hold
/// costs the most time. `max_tries` limits the sum.
constexpr std::uint8_t tries_of_long_hold = 3;
/// Times between two holds (nothing of the flow is sent): while the number of datagrams per answer is unknown, after it
/// has become known, and later. `bad_interval` applies while fewer answers are expected than come.
constexpr Duration learning_interval = milliseconds(300);
constexpr Duration first_interval = seconds(1);
constexpr Duration counting_interval = seconds(10);
/// Time between two holds while the number of datagrams per answer is a mean and no whole number. It is short, so that
/// errors of the count stay small.
constexpr Duration mean_interval = milliseconds(1500);
constexpr Duration bad_interval = seconds(3);
/// Shortest time between two holds (nothing of the flow is sent) that begin because answers come too early.
constexpr Duration least_interval = seconds(2);
/// Number of answers that come too early for every datagram in flight, after which a hold (nothing of the flow is sent)
/// begins.
constexpr std::uint32_t max_beyond = 4;
/// Smallest age of a datagram that an answer may acknowledge, as a share of the base delay (round trip without a
/// queue).
constexpr double least_age = 0.75;
/// Smallest age of a probe (datagrams sent after a hold) that an answer may acknowledge, as a share of the base delay.
constexpr double least_probe_age = 0.6;
/// Largest n of the factor 2^n that lengthens waiting times after n successive probes (datagrams sent after a hold)
/// without an answer.
constexpr int max_backoff = 4;
/// Number of successive probes that are answered before the base delay, after which the base delay is measured again,
/// because the path has become shorter. A probe is a few datagrams sent after a hold.
constexpr std::uint8_t max_early_probes = 3;
/// Number of datagrams of a probe (sent after a hold) while the number of datagrams per answer is unknown. With this
/// number most receivers answer at once, and not by their timer.
constexpr std::uint32_t first_probe = 10;
/// Number of holds (nothing of the flow is sent) after which the clock gives up if the number of datagrams per answer
/// is still unknown.
constexpr std::uint8_t max_tries = 8;
/// Number of times that the clock seeks the number of datagrams per answer again before it gives up. It does so when
/// the answers no longer fit that number.
constexpr std::uint8_t max_restarts = 3;
/// Bounds within which a measured number of datagrams per answer counts as a whole number, as factors of the whole
/// number. They are the upper bound, and the lower bounds for whole numbers up to 2 and above 2.
constexpr double above_whole = 1.015;
constexpr double below_few = 0.95;
constexpr double below_many = 0.98;
/// Number of holds from which on the number of datagrams per answer is also computed from the sums over all holds.
constexpr std::uint8_t holds_of_sum = 3;
/// Largest ratio of the highest to the lowest measured number of datagrams per answer at which their mean is used.
constexpr double max_spread = 1.12;
/// Factor of a mean number of datagrams per answer. It is above 1, because the link is idle if too few datagrams count
/// as delivered. If too many do, the queue only becomes longer until the next hold.
constexpr double mean_bias = 1.02;
/// Weight that earlier datagrams and answers keep at each hold, in the mean number of datagrams per answer.
constexpr double sum_memory = 0.7;
/// Largest mean deviation of the measured numbers of datagrams per answer from the mean number in use, as a share of
/// it. Above this the clock gives up, because the number varies too much.
constexpr double max_deviation = 0.07;
/// Share by which a measured number of datagrams per answer must exceed the whole number in use to count as larger.
/// After two such measurements in sequence the larger one is used, because the link is idle if too few datagrams count
/// as delivered.
constexpr double max_above_whole = 0.004;
constexpr std::uint8_t max_frequent_holds = 20;
/// Largest number of datagrams per answer that is accepted. Above 2, it is also refused if the mean time between two
/// answers is `least_timer` or more. A timer of the receiver may cause such answers.
constexpr double most_per_answer = 16;
constexpr Duration least_timer = milliseconds(20);
/// Fewest answers between two holds from which the number of datagrams per answer is computed.
constexpr std::uint64_t min_answers = 8;
/// Shortest time, and smallest number of answers, over which the expected and the received answers are compared.
constexpr Duration check_time = seconds(2);
constexpr std::uint32_t check_answers = 256;
/// Bounds of the number of expected answers divided by the number of received ones; beyond them the number of datagrams
/// per answer is sought again. A receiver that acknowledges more than two datagrams per answer makes a larger error
/// when its timer answers. Its lower bound is therefore `min_agreement_of_many`.
constexpr double max_agreement = 1.06;
constexpr double min_agreement = 0.87;
constexpr double min_agreement_of_many = 0.95;
constexpr double good_agreement = 0.97;
/// Tolerance for rounding errors in sums of fractions of datagrams.
constexpr double fraction_tolerance = 1e-6;

/// True if `ratio`, a measured number of datagrams per answer, agrees with the whole number `whole`. It may be smaller,
/// because receivers answer datagrams behind a loss early, but hardly larger.
bool is_close(double ratio, double whole) {
  return ratio <= above_whole * whole && ratio >= (whole <= 2 ? below_few : below_many) * whole;
}

/// Sets `found` to the largest whole number with which at least two of `ratios` agree. These are measured numbers of
/// datagrams per answer. Returns false and leaves `found` unchanged if there is no such number.
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

AnswerClock::AnswerClock(Instant now)
    : held_since_(now), last_answer_(now), before_last_answer_(now), last_sent_(now), answer_gap_(milliseconds(5)) {}

void AnswerClock::append(Instant now, Bytes bytes) {
  const Duration resolution =
      run_count_ > 0 ? std::max<Duration>(milliseconds(1), (now - oldest().last) / 16) : Duration::zero();
  const bool is_new = run_count_ == 0 || behind_drop_ || now - newest().last >= resolution;
  if (is_new && run_count_ < max_runs) {
    runs_[(oldest_run_ + run_count_) % max_runs] = {now, 0, 0, behind_drop_};
    ++run_count_;
  }
  Run& run = newest();
  if (run.datagrams == 0 || is_new) run.last = now;
  ++run.datagrams;
  run.bytes += static_cast<std::uint32_t>(bytes.count());
  in_flight_ += bytes;
}

/// Removes up to `datagrams` datagrams of the oldest run from those in flight, and returns their bytes. A run is a
/// group of datagrams sent within a short time. Requires that a run is in flight.
Bytes AnswerClock::remove_oldest(std::uint32_t datagrams) {
  Run& run = oldest();
  const std::uint32_t removed = std::min(datagrams, run.datagrams);
  const auto bytes = static_cast<std::uint32_t>(std::uint64_t{run.bytes} * removed / run.datagrams);
  run.datagrams -= removed;
  run.bytes -= bytes;
  run.is_behind_drop = false;
  if (run.datagrams == 0) {
    oldest_run_ = (oldest_run_ + 1) % max_runs;
    --run_count_;
  }
  in_flight_ -= Bytes(bytes);
  return Bytes(bytes);
}

/// Removes the datagrams that were sent before `until` from those in flight, because they have been delivered.
void AnswerClock::remove_before(Instant until) {
  while (run_count_ > 0 && oldest().last < until) static_cast<void>(remove_oldest(oldest().datagrams));
}

/// Ends the count of bytes in flight, because the number of datagrams per answer is unknown from now on.
void AnswerClock::forget_count() {
  known_ = false;
  run_count_ = 0;
  in_flight_ = Bytes{};
  credit_ = 0;
}

void AnswerClock::on_sent(Instant now, Bytes bytes) {
  if (has_given_up()) return;
  unanswered_ += 1;
  if (behind_drop_ || unanswered_ >= per_answer_ - fraction_tolerance) {
    ++window_expected_;
    unanswered_ = behind_drop_ ? 0 : std::max(0.0, unanswered_ - per_answer_);
  }
  if (behind_drop_) ++early_;
  if (phase_ == Phase::probing && probes_left_ > 0) {
    --probes_left_;
    if (probed_at_ == Instant{}) probed_at_ = now;
  }
  if (phase_ == Phase::probing && probed_at_ != Instant{}) ++sent_since_probe_;
  if (known_) append(now, bytes);
  behind_drop_ = false;
  ++sent_;
  sent_bytes_ += static_cast<std::uint64_t>(bytes.count());
  last_sent_ = now;
}

/// Begins a hold: nothing of the flow is sent until the radio queue is empty.
void AnswerClock::begin_hold(Instant now) {
  phase_ = Phase::holding;
  held_since_ = now;
  held_answers_ = 0;
  std::uint64_t datagrams = 0;
  for (std::uint32_t i = 0; i < run_count_; ++i) datagrams += runs_[(oldest_run_ + i) % max_runs].datagrams;
  held_expected_ = static_cast<std::uint64_t>(static_cast<double>(datagrams) / per_answer_);
}

/// Ends a hold or a probe that had no result. Gives up if the number of datagrams per answer is still unknown after too
/// many holds.
void AnswerClock::resume(Instant now) {
  phase_ = Phase::counting;
  probed_at_ = Instant{};
  beyond_ = 0;
  next_hold_ = now + (known_ ? counting_interval / 10 : learning_interval);
  if (!known_ && ++tries_ > max_tries) give_up();
}

void AnswerClock::give_up() {
  phase_ = Phase::given_up;
  forget_count();
}

/// Seeks the number of datagrams per answer again, because the answers no longer fit it. Gives up if this has happened
/// often.
void AnswerClock::restart_learning(Instant now) {
  if (restarts_++ >= max_restarts) return give_up();
  forget_count();
  tries_ = 0;
  ratio_count_ = ratio_next_ = summed_holds_ = 0;
  deviation_ = ratio_above_ = 0;
  summed_datagrams_ = summed_answers_ = 0;
  agreement_ = 1;
  window_began_ = Instant{};
  next_hold_ = now;
}

/// Compares the number of answers that are expected for the sent datagrams with the number received. If they differ too
/// much, seeks the number of datagrams per answer again, or gives up.
void AnswerClock::check_numbers(Instant now) {
  if (!known_ || window_answers_ < check_answers || now - window_began_ < check_time) return;
  if (window_began_ != Instant{}) {
    agreement_ += (static_cast<double>(window_expected_) / window_answers_ - agreement_) / 2;
    const double least = per_answer_ > 2 ? min_agreement_of_many : min_agreement;
    if (is_whole_ && (agreement_ < least || agreement_ > max_agreement)) restart_learning(now);
    if (!is_whole_ && std::abs(agreement_ - 1) > 2 * max_deviation) give_up();
  }
  window_began_ = now;
  window_expected_ = window_answers_ = 0;
}

/// Adds the round trip of a probe to the last ones. The base delay is the second shortest of them, because the shortest
/// may belong to an answer to a datagram before the probe.
void AnswerClock::record_base_delay(Duration round_trip) {
  probe_round_trips_[base_next_] = round_trip;
  base_next_ = static_cast<std::uint8_t>((base_next_ + 1) % probe_round_trips_.size());
  base_count_ = static_cast<std::uint8_t>(std::min<std::size_t>(base_count_ + 1U, probe_round_trips_.size()));
  const std::span<const Duration> recent = std::span(probe_round_trips_).first(base_count_);
  const auto shortest = std::min_element(recent.begin(), recent.end());
  base_ = Duration::max();
  for (auto it = recent.begin(); it != recent.end(); ++it) {
    if (it != shortest || recent.size() < 3) base_ = std::min(base_, *it);
  }
}

/// Updates the number of datagrams per answer from the datagrams and answers since the last synchronization, which is
/// an instant with nothing in flight. Sets the time of the next hold.
void AnswerClock::learn(Instant now) {
  const bool was_known = known_;
  if (synchronized_ && answers_ >= min_answers && answers_ >= 10 * early_) {
    // An answer to a datagram behind a drop stands for half of k on average.
    const double answers = static_cast<double>(answers_) - static_cast<double>(early_) / 2;
    if (!known_) {
      seek(static_cast<double>(sent_), answers);
    } else {
      follow(static_cast<double>(sent_), answers);
    }
  }
  if (known_ && !was_known) {
    const Duration drained = before_last_answer_ - held_since_;
    const double bytes = static_cast<double>(sent_bytes_) / static_cast<double>(sent_) * per_answer_ *
                         static_cast<double>(held_answers_);
    drained_rate_ = drained > expected_silence ? Rate::of(Bytes(bytes), drained) : Rate();
    unanswered_ = 0;
  }
  if (is_whole_) whole_ = was_known ? whole_ : per_answer_;
  const Duration interval = is_whole_ && (ratio_above_ > 0 || frequent_holds_ > 0) ? first_interval
                            : !is_whole_                                           ? mean_interval
                            : agreement_ < good_agreement                          ? bad_interval
                                                                                   : counting_interval;
  next_hold_ = now + (!known_ ? learning_interval : was_known ? interval : std::min(first_interval, interval));
  synchronized_ = true;
  sent_ = sent_bytes_ = answers_ = early_ = 0;
  beyond_ = 0;
}

/// Seeks the number of datagrams per answer by one more measurement: `datagrams` sent and `answers` received. The
/// result is a whole number with which measurements agree, or else the mean of measurements that differ little.
void AnswerClock::seek(double datagrams, double answers) {
  ratios_[ratio_next_] = datagrams / answers;
  ratio_next_ = static_cast<std::uint8_t>((ratio_next_ + 1) % ratios);
  ratio_count_ = static_cast<std::uint8_t>(std::min<std::size_t>(ratio_count_ + 1U, ratios));
  const std::span<const double> recent = std::span(ratios_).first(ratio_count_);
  // A link that pauses may look empty. The next ratio then errs in the other direction, so the sum is nearly right.
  summed_datagrams_ += datagrams;
  summed_answers_ += answers;
  ++summed_holds_;
  const double sum = summed_datagrams_ / summed_answers_;
  is_whole_ = true;
  known_ = agree_on_whole(recent, per_answer_);
  if (!known_ && summed_holds_ >= holds_of_sum) {
    const double whole = std::max(std::round(sum), 1.0);
    is_whole_ = is_close(sum, whole);
    const auto [least, most] = std::minmax_element(recent.begin(), recent.end());
    known_ = is_whole_ || *most <= max_spread * *least;
    per_answer_ = is_whole_ ? whole : std::max(sum * mean_bias, 1.0);
  }
  known_ = known_ && (per_answer_ <= 2 || (per_answer_ <= most_per_answer && answer_gap_ < least_timer));
}

/// Corrects the known number of datagrams per answer by one more measurement: `datagrams` sent and `answers` received.
/// Measurements above a whole number show that the number is a mean, because early answers only lower a measurement.
void AnswerClock::follow(double datagrams, double answers) {
  if (is_whole_) {
    const double ratio = datagrams / answers;
    const double before = std::exchange(ratio_above_, ratio > (1 + max_above_whole) * whole_ ? ratio : 0);
    if (before > 0 && ratio_above_ > 0) frequent_holds_ = max_frequent_holds;
    if (frequent_holds_ > 0) --frequent_holds_;
    per_answer_ = std::max(frequent_holds_ > 0 ? std::max(ratio_above_, before) : 0, whole_);
    return;
  }
  const double change = datagrams / answers / per_answer_ - 1;
  deviation_ += (std::abs(change) - deviation_) / 4;
  if (deviation_ > max_deviation) return give_up();
  summed_datagrams_ = summed_datagrams_ * sum_memory + datagrams;
  summed_answers_ = summed_answers_ * sum_memory + answers;
  per_answer_ = std::max(summed_datagrams_ / summed_answers_ * mean_bias, 1.0);
}

/// Handles the first answer to a probe (datagrams sent after a hold). It shows that everything sent before the probe
/// has been delivered. Returns what the answer acknowledges.
AnswerClock::Delivery AnswerClock::synchronize(Instant now) {
  const Duration round_trip = now - probed_at_;
  const std::uint64_t probe = sent_since_probe_;
  remove_before(probed_at_);
  sent_ -= std::min(probe, sent_);
  --answers_;
  learn(now);
  sent_ = probe;
  answers_ = 1;
  phase_ = Phase::counting;
  probed_at_ = Instant{};
  backoff_ = 0;
  credit_ = 0;
  ++synchronizations_;
  if (early_probes_ >= max_early_probes) base_count_ = base_next_ = 0;  // the path has become shorter
  early_probes_ = 0;
  record_base_delay(round_trip);
  if (!known_ && ++tries_ > max_tries) give_up();
  Delivery delivery = count(now);
  if (delivery.round_trip > Duration::zero()) delivery.round_trip = round_trip;
  return delivery;
}

/// Counts the datagrams of one answer as delivered: the known number per answer, or those up to the next datagram
/// behind a drop.
AnswerClock::Delivery AnswerClock::count(Instant now) {
  Delivery delivery;
  if (!known_) return delivery;
  credit_ += per_answer_;
  while (credit_ >= 1 - fraction_tolerance) {
    const bool is_possible = run_count_ > 0 && to_seconds(now - oldest().last) >= least_age * to_seconds(base_);
    if (!is_possible) {
      credit_ = 0;
      ++beyond_;
      break;
    }
    // A datagram counted too early must not make the base delay of the law too short.
    delivery.round_trip = std::max(now - oldest().last, base_);
    const bool is_behind_drop = oldest().is_behind_drop;
    const std::uint32_t datagrams =
        is_behind_drop ? 1 : std::min(static_cast<std::uint32_t>(credit_ + fraction_tolerance), oldest().datagrams);
    delivery.delivered += remove_oldest(datagrams);
    credit_ = is_behind_drop ? 0 : credit_ - datagrams;
  }
  return delivery;
}

AnswerClock::Delivery AnswerClock::on_answer(Instant now, bool waits) {
  if (has_given_up()) return {};
  const Duration gap = now - last_answer_;
  if (phase_ == Phase::counting && gap < milliseconds(200)) answer_gap_ += (gap - answer_gap_) / 16;
  before_last_answer_ = std::exchange(last_answer_, now);
  ++answers_;
  ++window_answers_;
  if (phase_ == Phase::holding) ++held_answers_;
  if (phase_ == Phase::probing && probed_at_ != Instant{}) {
    const bool is_late = !known_ || to_seconds(now - probed_at_) >= least_probe_age * to_seconds(base_);
    if (is_late) return synchronize(now);
    // The first early answer may be that of the receiver's timer to the last datagram before the probe. A second one
    // shows that the link had paused.
    if (early_answer_ && ++early_probes_ >= max_early_probes) return synchronize(now);
    if (early_answer_) resume(now);
    early_answer_ = true;
  }
  check_numbers(now);
  if (has_given_up()) return {};
  const Delivery delivery = count(now);
  const bool is_due =
      now >= next_hold_ || (beyond_ >= max_beyond && now >= next_hold_ - counting_interval + least_interval);
  if (phase_ == Phase::counting && is_due && (waits || !known_)) begin_hold(now);
  return delivery;
}

/// Returns the time without an answer from the UE after which its radio queue counts as empty.
Duration AnswerClock::silence() const {
  const bool expects = !known_ || run_count_ > 1 || (run_count_ == 1 && runs_[oldest_run_].datagrams >= per_answer_);
  return std::min((expects ? expected_silence : unexpected_silence) + silent_gaps * answer_gap_, max_hold / 2);
}

/// Returns the time without an answer after which a hold (nothing of the flow is sent) begins although the window is
/// full.
Duration AnswerClock::stall() const {
  return std::max(min_stall * (1 << backoff_), silence() + base_);
}

Duration AnswerClock::longest_hold() const {
  return base_ + (known_ && held_answers_ <= held_expected_ + 3 ? max_hold : max_long_hold);
}

Instant AnswerClock::deadline() const {
  const Duration base = base_ > Duration::zero() ? base_ : unknown_base;
  switch (phase_) {
    case Phase::given_up:
      return never;
    case Phase::holding:
      return std::min(held_since_ + longest_hold(),
                      std::max(last_answer_ + silence(), std::max(last_sent_, held_since_) + base + silence()));
    case Phase::probing:
      if (probes_left_ > 0) return never;
      return probed_at_ + base + expected_silence + silent_gaps * answer_gap_ + unknown_base * (1 << backoff_);
    case Phase::counting:
      return known_ && run_count_ > 0 ? std::max(last_answer_, last_sent_) + stall() : never;
  }
  return never;
}

void AnswerClock::on_time(Instant now, bool blocked) {
  if (now < deadline()) return;
  if (phase_ == Phase::counting) {
    // A mean that is too small lets the count lag behind, until the window seems to be full for ever.
    if (blocked && !is_whole_) give_up();
    if (blocked && !has_given_up()) begin_hold(now);
    return;
  }
  if (phase_ == Phase::probing) {
    backoff_ = static_cast<std::uint8_t>(std::min(backoff_ + 1, max_backoff));
    resume(now);
  } else if (now >= held_since_ + longest_hold()) {
    if (!known_) tries_ = static_cast<std::uint8_t>(synchronizations_ > 0 ? tries_ + tries_of_long_hold : max_tries);
    resume(now);
  } else {
    phase_ = Phase::probing;
    probed_at_ = Instant{};
    early_answer_ = false;
    sent_since_probe_ = 0;
    probes_left_ = known_ ? static_cast<std::uint32_t>(std::ceil(per_answer_)) : first_probe;
  }
}

}  // namespace sluice::control

// Counts the answers of a UE as acknowledgements. CrossTrafficSender reports what it sends and drops, and asks whether
// the flow must pause. Forwarder reports the answers. Invariant: nothing is in flight while counts() is false.
#include "control/ack_based/answer_clock.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Shortest time for which the flow's window must be full without any answer (short datagram from the UE) until a hold
/// (pause) begins. The count of bytes in flight is then assumed to be wrong, and the hold corrects it.
constexpr Duration min_stall = milliseconds(250);
/// Base delay (round trip without a queue) that is assumed until one is measured. It is also one part of the time for
/// which the answer to a probe (datagrams sent after a pause of the flow) is awaited. That part doubles with each
/// successive probe that gets no answer.
constexpr Duration unknown_base_delay = milliseconds(50);
/// Longest duration of a hold (pause of the flow that empties the radio queue). The base delay (round trip without a
/// queue) is added to it. If answers still arrive after this time, the link stalls at times. A longer hold would then
/// not show when the queue is empty.
constexpr Duration max_hold = milliseconds(300);
/// Replaces `max_hold`, the longest duration of a hold (pause of the flow), in two cases. Either the number of
/// datagrams per answer is unknown, or more answers than expected came in the hold. In both cases more data than
/// counted may have to leave the radio queue.
constexpr Duration max_long_hold = seconds(2);
/// Number that is added to the count of holds (pauses of the flow) without a result if a hold reaches its longest
/// duration. AnswerClock then gives up after fewer holds, because such long holds delay the flow most.
constexpr std::uint8_t weight_of_long_hold = 3;
/// Time between two holds (pauses of the flow) while the number of datagrams per answer is being learned.
constexpr Duration learning_interval = milliseconds(300);
/// Time until the next hold (pause of the flow) if the last ratios of datagrams to answers exceed the learned number of
/// datagrams per answer. It is also the longest time until the first hold after that number was learned.
constexpr Duration first_interval = seconds(1);
/// Time between two holds (pauses of the flow) if the receiver answers each n-th datagram for a whole number n. Holds
/// are rare then, because they only correct occasional errors of the count.
constexpr Duration counting_interval = seconds(10);
/// Time between two holds (pauses of the flow) if the number of datagrams per answer is only a mean. The count of bytes
/// in flight then drifts, so it must be corrected often.
constexpr Duration mean_interval = milliseconds(1500);
/// Time between two holds (pauses of the flow) if at least 3 % more answers come than the learned number of datagrams
/// per answer predicts. It is also the shortest time between two holds if answers have become slow (`slow_answers`).
constexpr Duration bad_interval = seconds(3);
/// Shortest time between two holds (pauses of the flow) if impossible answers cause the second one. An impossible
/// answer came too early to acknowledge any datagram in flight.
constexpr Duration min_interval = seconds(2);
/// Number of impossible answers that cause a hold (pause of the flow). An impossible answer came too early to
/// acknowledge any datagram in flight, so the count of these datagrams is wrong.
constexpr std::uint32_t max_impossible_answers = 4;
/// Smallest age at which a datagram can be acknowledged by an answer, as a share of the base delay (round trip without
/// a queue). It is below 1, because the base delay is an estimate.
constexpr double min_age = 0.75;
/// Shortest time from a probe (datagrams sent after a hold) to its answer, as a share of the base delay (round trip
/// without a queue). A sooner answer acknowledges an older datagram.
constexpr double min_probe_age = 0.6;
/// Largest exponent n of the factor 2^n that lengthens waiting times after n successive probes (datagrams sent after a
/// hold) without an answer. These are the times for which an answer is awaited after a probe, or while the window is
/// full.
constexpr int max_backoff = 4;
/// Number of successive probes (datagrams sent after a hold) answered sooner than a round trip takes, after which the
/// path counts as shorter. The base delay (RTT without a queue) is then measured again.
constexpr std::uint8_t max_early_probes = 3;
/// Number of datagrams in a probe (sent after a pause of the flow) while the number of datagrams per answer is unknown.
/// Most receivers acknowledge ten datagrams at once, and do not wait for their ACK timer.
constexpr std::uint32_t first_probe = 10;
/// Largest number of holds (pauses of the flow until its queue is empty) that may leave the number of datagrams per
/// answer unknown. After one more, AnswerClock gives up, and the flow is sent without a window.
constexpr std::uint8_t max_learning_holds = 8;
/// Largest number of times that the learned number of datagrams per answer is discarded, because the answers no longer
/// fit it. The next time AnswerClock gives up instead.
constexpr std::uint8_t max_restarts = 3;
/// Number of successive holds (pauses of the flow) with too few answers after which the number of datagrams per answer
/// is learned again. Too few are fewer than half of those expected for the datagrams in flight at the start of the
/// hold.
constexpr std::uint8_t max_short_holds = 3;
/// Smallest number of answers that must be expected in a hold (pause of the flow), so that the hold can show that too
/// few came.
constexpr std::uint64_t min_expected = 3;
/// Factor by which the mean time between two answers must grow, so that the next hold (pause of the flow) comes after
/// `bad_interval` already. Either the link has then become slower, or each answer stands for more datagrams.
constexpr int slow_answers = 4;
/// Fewest answers between two holds (pauses of the flow) from which the number of datagrams per answer is computed.
constexpr std::uint64_t min_answers = 8;
/// Fewest answers per datagram dropped by the proxy with which the number of datagrams per answer is computed. Each
/// drop causes an extra answer, which falsifies that number if answers are few.
constexpr std::uint64_t min_answers_per_drop = 10;
/// Largest ratio of expected to received answers with which a learned whole number of datagrams per answer remains
/// valid.
constexpr double max_agreement = 1.06;
/// Smallest ratio of expected to received answers with which a learned number of one or two datagrams per answer
/// remains valid.
constexpr double min_agreement = 0.87;
/// Replaces `min_agreement`, the smallest valid ratio of expected to received answers, if one answer stands for more
/// than two datagrams. An extra answer, caused by the receiver's ACK timer, then falsifies the count of datagrams more.
constexpr double min_agreement_of_many = 0.95;
/// Ratio of expected to received answers below which holds (pauses of the flow) are more frequent. Answers that are not
/// expected falsify the count of bytes in flight, and a hold corrects it.
constexpr double good_agreement = 0.97;
/// Largest deviation from 1 of the ratio of expected to received answers, while the number of datagrams per answer is a
/// mean. Beyond it AnswerClock gives up.
constexpr double max_disagreement_of_mean = 0.14;
/// Tolerance for rounding errors in sums of fractions of datagrams.
constexpr double fraction_tolerance = 1e-6;

}  // namespace

AnswerClock::AnswerClock(Instant now) : hold_{.since = now}, last_sent_(now), silence_(now) {}

/// Discards the datagrams in flight, because it is unknown which of them later answers acknowledge.
void AnswerClock::forget_flight() {
  in_flight_.clear();
  answered_ = 0;
}

void AnswerClock::on_sent(Instant now, Bytes bytes) {
  if (has_given_up()) return;
  agreement_.on_sent(per_answer_.value(), is_behind_drop_);
  if (is_behind_drop_) ++counted_.behind_drops;
  if (phase_ == Phase::probing && probe_.left > 0) {
    --probe_.left;
    if (probe_.sent_at == Instant{}) probe_.sent_at = now;
  }
  if (phase_ == Phase::probing && probe_.sent_at != Instant{}) {
    ++probe_.sent_since;
    probe_.bytes_since += static_cast<std::uint64_t>(bytes.count());
  }
  if (counts()) in_flight_.add(now, bytes, is_behind_drop_);
  is_behind_drop_ = false;
  ++counted_.sent;
  counted_.sent_bytes += static_cast<std::uint64_t>(bytes.count());
  last_sent_ = now;
}

/// Begins a hold: nothing of the flow is sent until the radio queue is empty.
void AnswerClock::begin_hold(Instant now) {
  phase_ = Phase::holding;
  const double expected = static_cast<double>(in_flight_.count()) / per_answer_.value();
  hold_ = {.since = now, .expected = static_cast<std::uint64_t>(expected)};
}

/// Ends a hold (pause of the flow) or a probe (datagrams sent after it) that had no result, and lets the flow send
/// again. Gives up if the number of datagrams per answer is still unknown after too many holds.
void AnswerClock::resume(Instant now) {
  phase_ = Phase::counting;
  counting_since_ = now;
  probe_.sent_at = Instant{};
  counted_.impossible_answers = 0;
  next_hold_ = now + (counts() ? counting_interval / 10 : learning_interval);
  if (!counts() && ++learning_holds_ > max_learning_holds) give_up();
}

void AnswerClock::begin_probe() {
  phase_ = Phase::probing;
  probe_ = {.left = counts() ? static_cast<std::uint32_t>(std::ceil(per_answer_.value())) : first_probe};
}

void AnswerClock::give_up() {
  phase_ = Phase::given_up;
  forget_flight();
}

/// Discards the number of datagrams per answer so that it is learned again, because expected and received answers no
/// longer agree. Gives up if that has already happened three times.
void AnswerClock::restart_learning(Instant now) {
  if (restarts_++ >= max_restarts) return give_up();
  forget_flight();
  per_answer_.restart();
  agreement_.restart();
  learning_holds_ = 0;
  next_hold_ = now;
}

/// Compares the number of answers that are expected for the sent datagrams with the number received. If they differ too
/// much, the number of datagrams per answer is learned again, or AnswerClock gives up.
void AnswerClock::check_agreement(Instant now) {
  if (!counts() || !agreement_.update(now)) return;
  const double ratio = agreement_.ratio();
  const double lowest = per_answer_.value() > 2 ? min_agreement_of_many : min_agreement;
  if (!per_answer_.is_whole()) {
    if (std::abs(ratio - 1) > max_disagreement_of_mean) give_up();
  } else if (ratio < lowest || ratio > max_agreement) {
    restart_learning(now);
  }
}

/// Checks whether a hold (pause of the flow) has brought fewer than half of the answers expected for the datagrams in
/// flight at its start. Each answer then stands for more datagrams than counted. The window seems full although little
/// is in flight, so the rate falls. After several such holds in sequence the number of datagrams per answer is learned
/// again. `round_trip` is that of the probe (datagrams sent after the hold). If it is long, the link had paused and the
/// missing answers come later, so the hold is ignored.
void AnswerClock::check_hold(Instant now, Duration round_trip) {
  const bool is_short = hold_.expected >= min_expected && 2 * hold_.answers < hold_.expected;
  if (!counts() || !is_short || round_trip > base_delay() + AnswerSilence::expected) {
    usual_gap_ = silence_.gap();
    short_holds_ = 0;
    return;
  }
  if (++short_holds_ < max_short_holds) return;
  short_holds_ = 0;
  restart_learning(now);
}

/// Updates the number of datagrams per answer from the datagrams and answers since the last synchronization (instant at
/// which every datagram had been answered). Sets the time of the next hold (pause of the flow).
void AnswerClock::learn(Instant now) {
  const bool was_known = counts();
  if (counted_.is_synchronized && counted_.answers >= min_answers &&
      counted_.answers >= min_answers_per_drop * counted_.behind_drops) {
    // An answer to a datagram behind a drop stands for half of the usual number on average.
    const double answers = static_cast<double>(counted_.answers) - static_cast<double>(counted_.behind_drops) / 2;
    per_answer_.add(static_cast<double>(counted_.sent), answers, silence_.gap());
  }
  if (was_known && !counts()) {  // the answers no longer fit a mean
    counted_ = {.is_synchronized = true};
    return restart_learning(now);
  }
  if (counts() && !was_known) {
    const Duration drained = silence_.before_last() - hold_.since;
    const double bytes = static_cast<double>(counted_.sent_bytes) / static_cast<double>(counted_.sent) *
                         per_answer_.value() * static_cast<double>(hold_.answers);
    drained_rate_ = drained > AnswerSilence::expected ? Rate::of(Bytes(bytes), drained) : Rate();
    agreement_.restart_datagrams();
  }
  next_hold_ = now + hold_interval(was_known);
  counted_ = {.is_synchronized = true};
}

/// Returns the time until the next hold (pause of the flow). `was_known` is true if the number of datagrams per answer
/// was known before the hold that has just ended.
Duration AnswerClock::hold_interval(bool was_known) const {
  if (!counts()) return learning_interval;
  const Duration interval = per_answer_.exceeds_whole()           ? first_interval
                            : !per_answer_.is_whole()             ? mean_interval
                            : agreement_.ratio() < good_agreement ? bad_interval
                                                                  : counting_interval;
  return was_known ? interval : std::min(first_interval, interval);
}

/// Handles the first answer to a probe (datagrams sent after a hold). This answer shows that everything sent before the
/// probe was delivered. Returns what the answer acknowledges.
AnswerClock::Delivery AnswerClock::synchronize(Instant now) {
  const Duration round_trip = now - probe_.sent_at;
  in_flight_.remove_before(probe_.sent_at);
  // The probe and its answer belong to the next count.
  counted_.sent -= std::min(probe_.sent_since, counted_.sent);
  counted_.sent_bytes -= std::min(probe_.bytes_since, counted_.sent_bytes);
  --counted_.answers;
  learn(now);
  check_hold(now, round_trip);
  if (has_given_up()) return {};
  counted_.sent = probe_.sent_since;
  counted_.sent_bytes = probe_.bytes_since;
  counted_.answers = 1;
  phase_ = Phase::counting;
  counting_since_ = now;
  probe_.sent_at = Instant{};
  lost_probes_ = 0;
  answered_ = 0;
  ++synchronizations_;
  if (early_probes_ >= max_early_probes) round_trips_.restart();
  early_probes_ = 0;
  round_trips_.add(round_trip);
  if (!counts() && ++learning_holds_ > max_learning_holds) give_up();
  Delivery delivery = count(now);
  if (delivery.round_trip > Duration::zero()) delivery.round_trip = round_trip;
  return delivery;
}

/// Counts as delivered the datagrams that one answer acknowledges. These are the oldest in flight, as many as one
/// answer acknowledges on average. They are fewer if one of them follows a drop, because the UE answers that one at
/// once.
AnswerClock::Delivery AnswerClock::count(Instant now) {
  Delivery delivery;
  if (!counts()) return delivery;
  answered_ += per_answer_.value();
  while (answered_ >= 1 - fraction_tolerance) {
    const bool is_possible =
        !in_flight_.empty() && to_seconds(now - in_flight_.oldest_sent()) >= min_age * to_seconds(base_delay());
    if (!is_possible) {
      answered_ = 0;
      ++counted_.impossible_answers;
      break;
    }
    // A datagram counted too early must not make the base delay of the law too short.
    delivery.round_trip = std::max(now - in_flight_.oldest_sent(), base_delay());
    const bool is_behind_drop = in_flight_.oldest_is_behind_drop();
    const std::uint32_t datagrams =
        is_behind_drop
            ? 1
            : std::min(static_cast<std::uint32_t>(answered_ + fraction_tolerance), in_flight_.oldest_count());
    delivery.delivered += in_flight_.remove_oldest(datagrams);
    answered_ = is_behind_drop ? 0 : answered_ - datagrams;
  }
  return delivery;
}

AnswerClock::Delivery AnswerClock::on_answer(Instant now, bool waits) {
  if (has_given_up()) return {};
  silence_.on_answer(now, phase_ == Phase::counting);
  ++counted_.answers;
  agreement_.on_answer();
  if (phase_ == Phase::holding) ++hold_.answers;
  if (phase_ == Phase::probing && probe_.sent_at != Instant{}) {
    const bool is_late = !counts() || to_seconds(now - probe_.sent_at) >= min_probe_age * to_seconds(base_delay());
    if (is_late) return synchronize(now);
    // The first early answer may be that of the receiver's timer to the last datagram before the probe. A second one
    // shows that the link had paused.
    if (probe_.has_early_answer && ++early_probes_ >= max_early_probes) return synchronize(now);
    if (probe_.has_early_answer) resume(now);
    probe_.has_early_answer = true;
  }
  check_agreement(now);
  if (has_given_up()) return {};
  const Delivery delivery = count(now);
  if (phase_ == Phase::counting && is_hold_due(now) && (waits || !counts())) begin_hold(now);
  return delivery;
}

bool AnswerClock::is_hold_due(Instant now) const {
  return now >= next_hold_ || (silence_.gap() > slow_answers * usual_gap_ && now >= counting_since_ + bad_interval) ||
         (counted_.impossible_answers >= max_impossible_answers && now >= counting_since_ + min_interval);
}

/// Returns the time without an answer from the UE after which its radio queue counts as empty.
Duration AnswerClock::silence() const {
  return silence_.time(!counts() || in_flight_.holds_at_least(per_answer_.value()));
}

/// Returns how long the window that limits the flow may be full without an answer until a hold (pause of the flow)
/// begins.
Duration AnswerClock::stall_time() const {
  return std::max(min_stall * (1 << lost_probes_), silence() + base_delay());
}

Duration AnswerClock::max_hold_time() const {
  constexpr std::uint64_t tolerance = 3;
  return base_delay() + (counts() && hold_.answers <= hold_.expected + tolerance ? max_hold : max_long_hold);
}

Instant AnswerClock::deadline() const {
  const Duration base = base_delay() > Duration::zero() ? base_delay() : unknown_base_delay;
  switch (phase_) {
    case Phase::given_up:
      return never;
    case Phase::holding:
      return std::min(hold_.since + max_hold_time(),
                      std::max(silence_.last() + silence(), std::max(last_sent_, hold_.since) + base + silence()));
    case Phase::probing:
      if (probe_.left > 0) return never;
      return probe_.sent_at + base + AnswerSilence::expected + silence_.margin() +
             unknown_base_delay * (1 << lost_probes_);
    case Phase::counting:
      if (!counts() || in_flight_.empty()) return never;
      return std::max({silence_.last(), last_sent_, checked_at_}) + stall_time();
  }
  return never;
}

void AnswerClock::on_time(Instant now, bool blocked) {
  if (now < deadline()) return;
  if (phase_ == Phase::counting) {
    checked_at_ = now;
    // A mean that is too small lets the count lag behind, until the window seems to be full for ever.
    if (blocked && !per_answer_.is_whole()) give_up();
    if (blocked && !has_given_up()) begin_hold(now);
    return;
  }
  if (phase_ == Phase::probing) {
    lost_probes_ = static_cast<std::uint8_t>(std::min(lost_probes_ + 1, max_backoff));
    resume(now);
  } else if (now >= hold_.since + max_hold_time()) {
    const int holds = synchronizations_ > 0 ? learning_holds_ + weight_of_long_hold : max_learning_holds;
    if (!counts()) learning_holds_ = static_cast<std::uint8_t>(holds);
    resume(now);
  } else {
    begin_probe();
  }
}

}  // namespace sluice::control

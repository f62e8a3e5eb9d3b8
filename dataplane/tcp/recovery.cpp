// Loss recovery: fast recovery (RFC 8985 and RFC 6937 with SACK, RFC 6582 without) and recovery after a timeout (RFC
// 6298 section 5, RFC 5681). Called by ack_processing.cpp for every acknowledgement on the slow path, and by
// timers.cpp. This file marks packets in the send queue as lost; emit_data.cpp decides what is sent and how much.

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {
namespace {

/// Delay of the reordering timer beyond the reordering window, which RFC 8985 section 6.2 step 5 leaves to the
/// implementation. An ACK that arrives after the reordering window marks the segment lost at once. Without such an ACK,
/// the timer marks it lost after this delay. The delay avoids the retransmission of a segment that arrives shortly
/// after the reordering window. Linux uses two jiffies.
constexpr Duration timer_slack = std::chrono::milliseconds(2);

}  // namespace

/// Advances or ends the recovery after an acknowledgement, or starts one.
void Sender::recover(AckEvent& event, const Delivery& delivery) {
  if (event.acked != 0) {
    if (bits_.recovery != Recovery::none && snd_.una >= loss_recovery_.point) {
      leave_recovery(event);
    } else if (bits_.recovery == Recovery::fast && !uses_sack()) {
      on_partial_ack(event);
    } else if (bits_.recovery == Recovery::timeout && !uses_sack()) {
      on_ack_after_timeout(event);
    } else if (bits_.recovery == Recovery::none) {
      loss_recovery_.duplicate_acks = 0;
    }
  }
  if (uses_sack()) {
    recover_by_time(event, delivery);
  } else if (event.duplicate) {
    on_duplicate_ack(event);
  }
  count_losses(event);
}

/// Adds the losses of an ACK to the number that take_losses() returns. Losses that a timeout assumes are not counted,
/// because the path may have stored the data during an outage.
void Sender::count_losses(const AckEvent& event) {
  if (event.newly_lost != 0 && has_recovery_state()) ensure_recovery_state().losses += event.newly_lost;
}

std::uint32_t Sender::take_losses() {
  return has_recovery_state() ? std::exchange(ensure_recovery_state().losses, 0U) : 0;
}

/// Detects losses with SACK (RFC 8985 section 6.2). While the F-RTO test decides whether a timeout was spurious,
/// nothing more is marked lost. The timeout has already marked every packet that was sent more than about a round trip
/// before.
void Sender::recover_by_time(AckEvent& event, const Delivery& delivery) {
  reordering_.update(delivery);
  if (has_recovery_state() || queue().front_overtaken(delivery)) ensure_recovery_state().rack.update(delivery);
  if (!tests_spurious_timeout()) detect_overdue(event);
  if (bits_.recovery == Recovery::fast) shape_reduction(event);
}

/// Marks overdue segments lost, enters fast recovery if there are any, and arms the timer for the next segment that may
/// become overdue.
void Sender::detect_overdue(AckEvent& event) {
  if (queue().empty()) return;
  // Without a RecoveryState everything outstanding was sent after the data that has arrived.
  const std::uint32_t wait = has_recovery_state()
                                 ? queue().mark_overdue(ensure_recovery_state().rack, tick::us(event.now),
                                                        reordering_window(), event, samples())
                                 : 0;
  if (bits_.recovery == Recovery::none && queue().to_retransmit() != 0 &&
      !(bits_.trying_larger && only_larger_lost())) {
    enter_fast_recovery(event.now);
  }
  if (!queue().outstanding() || (armed() == Timer::retransmit && queue().front_sacked())) return;
  if (wait != 0) {
    arm(Timer::reorder, event.now + tick::us_duration(wait) + timer_slack);
  } else if (armed() < Timer::probe || (armed() == Timer::probe && !may_probe_tail())) {
    arm_retransmit_slow(event.now);
  }
}

/// Handles an acknowledgement after which the oldest segment is sacked. The peer has then dropped data that it had
/// reported (RFC 2018 section 8), because a receiver that holds the next segment also acknowledges it. The
/// retransmission timer then expires after half a round trip, as in Linux. An ACK that arrives meanwhile may cover the
/// segment, because some peers acknowledge in several steps.
void Sender::suspect_reneging(Instant now) {
  arm(Timer::retransmit, now + std::max<Duration>(srtt() / 2, std::chrono::milliseconds(10)));
}

/// Takes an RTT sample from a newly sacked segment that was sent once, and ends the backoff of the retransmission
/// timeout (RFC 6298 section 5). Karn's rule permits this sample, although the segment lies behind a hole. The timer is
/// restarted if it would otherwise expire later than one RTO from now.
void Sender::end_backoff_by_sack(const AckEvent& event) {
  sample_rtt(event.rtt, snd_.una, snd_.nxt);
  end_backoff();
  if (armed() == Timer::retransmit && timer_deadline() > event.now + rto()) arm_retransmit_slow(event.now);
}

/// Returns RACK's reordering window: the time for which the sender waits for a reordered segment, in ticks of 1.02 µs
/// (tick::us).
std::uint32_t Sender::reordering_window() const {
  return reordering_.ticks(tick::us(min_rtt()), tick::us(srtt()), queue().sacked(), bits_.recovery != Recovery::none);
}

/// Handles the expiry of the reordering timer: marks lost the segments that were sent before a delivered one and have
/// not arrived in time.
void Sender::on_reordering_timeout(Instant now) {
  AckEvent event{.now = now};
  detect_overdue(event);
  count_losses(event);
  if (bits_.recovery == Recovery::fast) shape_reduction(event);
  if (armed() == Timer::none && (queue().outstanding() || fin_outstanding())) arm_retransmit_slow(now);
}

/// Sets cwnd by proportional rate reduction (RFC 6937).
void Sender::shape_reduction(const AckEvent& event) {
  if (bits_.window_source == WindowSource::allowance || congestion_.is_model_based()) return;
  const bool safe = event.acked != 0 && event.newly_lost == 0;
  const std::uint32_t allowed = ensure_recovery_state().reduction.allowed(
      event.delivered, pipe(), congestion_.ssthresh(), congestion_.reduction(), mtu_.mss, safe);
  congestion_.reduce_to(pipe() + allowed, mtu_.mss);
}

/// Returns the number of full segments of new data that were sent since the recovery began.
std::int32_t Sender::segments_beyond_recovery() const {
  return std::max((snd_.nxt - loss_recovery_.point) / mtu_.mss, 0);
}

/// Counts a duplicate ACK on a connection without SACK and enters fast recovery at the third one. If the caller's
/// allowance (bytes permitted to send) replaces cwnd, data before RecoveryPoint does not always count as in flight.
/// After a timeout or a partial acknowledgement, each duplicate ACK then stands for a segment sent after RecoveryPoint.
/// Unneeded retransmissions cause duplicate ACKs too, so at most as many are counted as there are such segments. After
/// a timeout most duplicate ACKs have that cause, so at most the two segments of the F-RTO test are counted.
void Sender::on_duplicate_ack(AckEvent& event) {
  const bool after_timeout = bits_.recovery == Recovery::timeout;
  if (retransmits_blindly() && (after_timeout || bits_.partially_acked)) {
    const std::int32_t most = std::min(segments_beyond_recovery(), after_timeout ? frto_segments : INT16_MAX);
    if (loss_recovery_.duplicate_acks < most) ++loss_recovery_.duplicate_acks;
    return;
  }
  if (after_timeout) return;
  if (loss_recovery_.duplicate_acks < UINT16_MAX && pipe() > 0) ++loss_recovery_.duplicate_acks;
  if (bits_.recovery != Recovery::none || loss_recovery_.duplicate_acks < Rack::threshold) return;
  // RFC 6582 section 3.2 step 1: data retransmitted after a timeout must not look like a new loss.
  if (snd_.una <= loss_recovery_.point) return;
  // Three duplicate ACKs show that data and ACKs pass again, for example after an outage. The timer of the recovery
  // then need not wait for longer than the RTO without backoff.
  if (config().ends_backoff_in_recovery) end_backoff();
  scoreboard().mark_front_lost(event, samples());
  const bool probe_lost = bits_.trying_larger && only_larger_lost();
  if (probe_lost) bits_.reduced = true;  // RFC 8899 section 3 item 7: no sign of congestion
  enter_fast_recovery(event.now);
  ensure_recovery_state().probe_lost = probe_lost;
}

/// Reduces the count of duplicate ACKs after an ACK of new data without SACK. Subtracts the number of segments that
/// this ACK covers, minus one. One of these segments was retransmitted. Each other segment had caused a duplicate ACK
/// when it arrived.
void Sender::forget_duplicates(std::uint32_t acked) {
  const std::uint32_t arrived = acked > mtu_.mss ? (acked - 1) / mtu_.mss : 0;
  loss_recovery_.duplicate_acks = static_cast<std::uint16_t>(
      loss_recovery_.duplicate_acks - std::min<std::uint32_t>(loss_recovery_.duplicate_acks, arrived));
}

/// Handles a partial acknowledgement without SACK: the data right after the acknowledged position is missing (RFC 6582
/// section 3.2 step 3, case 2).
void Sender::on_partial_ack(AckEvent& event) {
  if (config().classic_reno) {
    leave_recovery(event);
    return;
  }
  // Later duplicate ACKs stand for data beyond RecoveryPoint, which a partial acknowledgement does not cover.
  if (!retransmits_blindly() || !bits_.partially_acked) forget_duplicates(event.acked);
  RecoveryState& state = ensure_recovery_state();
  if (state.probe_lost && !queue().front_lost()) {
    state.probe_lost = false;
    if (bits_.window_source == WindowSource::congestion_control) congestion_.on_congestion(path(event.now));
  }
  if (retransmits_blindly()) {
    const std::uint32_t missing = still_missing();
    // The holes of the first estimate are counted already. Each later partial acknowledgement shows one more hole,
    // unless it ends inside a segment. The queue is empty if only the FIN is missing.
    if (state.assumed_missing != 0 && queue().outstanding() && !event.misplaced)
      event.newly_lost += queue().front().note().payload_len;
    if (!bits_.partially_acked) loss_recovery_.duplicate_acks = 0;  // they stand for data that no longer counts
    forget_old_flight(event.now);
    retransmit_missing(missing, event);
  } else {
    scoreboard().mark_front_lost(event, samples());
  }
  bits_.retransmit_first = true;
  bits_.partially_acked = true;
}

/// Stops counting data sent after RecoveryPoint as in flight, if no new data was sent for two round trips. Each segment
/// of that data has then arrived or is lost. Otherwise this data could use up the caller's allowance (bytes permitted
/// to send) for the whole recovery. Used in recoveries without SACK.
void Sender::forget_old_flight(Instant now) {
  RecoveryState& state = ensure_recovery_state();
  if (!bits_.partially_acked || snd_.nxt != state.nxt_at_partial_ack) {
    state.nxt_at_partial_ack = snd_.nxt;
    state.new_data_seen = now;
  } else if (now - state.new_data_seen >= 2 * srtt()) {
    loss_recovery_.duplicate_acks = static_cast<std::uint16_t>(std::min(segments_beyond_recovery(), INT16_MAX));
  }
}

/// Estimates how many segments below RecoveryPoint are missing, at the first partial acknowledgement without SACK. Each
/// duplicate ACK counts as one segment that has arrived, and all other segments as missing. The estimate is at most
/// twice the number of arrived segments, because others may only be reordered and still in flight. It is not exact,
/// because unneeded retransmissions of an earlier recovery cause duplicate ACKs too.
std::uint32_t Sender::first_estimate() const {
  const std::uint32_t open = (static_cast<std::uint32_t>(loss_recovery_.point - snd_.una) + mtu_.mss - 1) / mtu_.mss;
  const std::uint32_t arrived = loss_recovery_.duplicate_acks;
  return std::min(open - std::min(open, arrived), 2 * arrived);
}

/// Returns how many segments below RecoveryPoint are assumed to be missing, after a partial acknowledgement without
/// SACK. The first partial acknowledgement of a recovery uses first_estimate(). Each later one shows that one hole was
/// filled, so the number decreases by one. If it reaches zero before RecoveryPoint is acknowledged, three segments are
/// assumed, then six, and so on. This doubling resembles slow start, because a buffer overflow may have lost hundreds
/// of neighbouring segments. If an ACK covers a segment that was sent once, its neighbours have arrived too. At most
/// three segments then count as missing.
std::uint32_t Sender::still_missing() {
  RecoveryState& state = ensure_recovery_state();
  std::uint8_t& assumed = state.assumed_missing;
  if (!bits_.partially_acked && loss_recovery_.retransmissions <= 1) return first_estimate();
  if (state.acked_original && assumed > Rack::threshold) {
    assumed = Rack::threshold;
    if (loss_recovery_.retransmissions > assumed) return assumed;
  }
  if (loss_recovery_.retransmissions > 1) return loss_recovery_.retransmissions - 1U;
  const std::uint32_t missing = state.acked_original ? 0 : std::min(2U * assumed, max_blind_retransmissions);
  assumed = static_cast<std::uint8_t>(std::max<std::uint32_t>(missing, Rack::threshold));
  return assumed;
}

/// Handles an ACK after a timeout without SACK. Under congestion control all segments are retransmitted as cwnd
/// permits. If the caller's limit on the bytes to send (its allowance) replaces cwnd, the first segment is
/// retransmitted alone. Each ACK then increases the number of segments retransmitted together by one, as in slow start.
void Sender::on_ack_after_timeout(AckEvent& event) {
  if (retransmits_blindly() && loss_recovery_.retransmissions < max_blind_retransmissions)
    ++loss_recovery_.retransmissions;
  scoreboard().mark_front_lost(event, samples());
  // The next segment is missing for certain, and cwnd may be used up by the new data of the F-RTO test.
  if (!tests_spurious_timeout()) bits_.retransmit_first = true;
}

/// Marks the data before RecoveryPoint lost, and lets up to `segments` segments of it from SND.UNA on be retransmitted.
/// Neighbours are retransmitted, because a buffer overflow loses neighbouring segments. The retransmission that the
/// peer has just acknowledged was sent after all other data before RecoveryPoint. So that data has arrived or is lost,
/// and must not count as in flight. Only the segments that are retransmitted now count as newly lost.
void Sender::retransmit_missing(std::uint32_t segments, AckEvent& event) {
  loss_recovery_.retransmissions =
      static_cast<std::uint8_t>(std::clamp<std::uint32_t>(segments, 1, max_blind_retransmissions));
  scoreboard().mark_front_lost(event, samples());
  const SeqNum reach = snd_.una + std::uint32_t{loss_recovery_.retransmissions} * mtu_.mss;
  scoreboard().mark_lost_before(std::min(reach, loss_recovery_.point), event, samples());
  AckEvent assumed;
  scoreboard().mark_lost_before(loss_recovery_.point, assumed, samples());
}

/// Enters fast recovery: sets RecoveryPoint and reduces cwnd, unless an ECN mark has already reduced it.
void Sender::enter_fast_recovery(Instant now) {
  bits_.recovery = Recovery::fast;
  loss_recovery_.point = snd_.nxt;
  bits_.spurious_check = detects_spurious_retransmissions() ? SpuriousCheck::retransmission_due : SpuriousCheck::none;
  loss_recovery_.retransmissions = 0;
  bits_.tail_probe_due = bits_.tail_probe_outstanding = false;
  bits_.retransmit_first = true;  // RFC 6675 section 5 step 4.3: the first retransmission ignores the window
  count(counters_.fast_recoveries);
  reordering_.on_recovery();
  RecoveryState& state = ensure_recovery_state();
  state.reduction.begin();
  state.assumed_missing = 0;
  state.acked_original = state.probe_lost = false;
  bits_.cwr_due = uses_ecn();
  // RFC 3168 section 6.1.2: a window that was reduced for an ECN mark is not reduced again for a loss.
  const bool reduced = bits_.reduced;
  bits_.reduced = false;
  if (bits_.window_source == WindowSource::congestion_control && !reduced) congestion_.on_congestion(path(now));
}

/// Ends the recovery, because everything up to RecoveryPoint is acknowledged.
void Sender::leave_recovery(const AckEvent& event) {
  const bool keeps_cwnd = !uses_sack() && recovery_state().probe_lost;
  if (bits_.recovery == Recovery::fast && bits_.window_source == WindowSource::congestion_control && !keeps_cwnd) {
    congestion_.on_recovery_exit(path(event.now), uses_sack());
  }
  reordering_.on_recovered();
  // Segments sent during the recovery that have arrived are not missing in the next one.
  if (bits_.recovery == Recovery::fast && retransmits_blindly() && snd_.una < snd_.nxt) {
    const auto beyond = static_cast<std::uint32_t>(std::max(snd_.una - loss_recovery_.point, 0));
    forget_duplicates(bits_.partially_acked ? std::min(beyond, event.acked) : event.acked);
  } else {
    loss_recovery_.duplicate_acks = 0;
  }
  bits_.recovery = Recovery::none;
  bits_.spurious_check = SpuriousCheck::none;
  bits_.retransmit_first = false;
  bits_.partially_acked = false;
}

/// Handles the expiry of the retransmission timer (RFC 6298 sections 5.4 to 5.6). Returns false if the permitted number
/// of retransmissions is used up. A retransmission may not have been sent yet, because the caller did not permit its
/// bytes or no buffer was free. The peer then owes no answer, so the expiry only marks later segments lost, see
/// must_guard_flight(). The timer restarts when the retransmission is sent.
bool Sender::on_retransmission_timeout(Instant now) {
  if (retransmission_waits() && !window_closed()) {
    AckEvent event{.now = now};
    scoreboard().mark_lost_by_timeout(lost_before(now), event, samples());
    return true;
  }
  if (loss_recovery_.retries >= config().max_retransmissions) return false;
  if (window_closed()) {
    on_refusal(now);
    return true;
  }
  const bool first = loss_recovery_.retries == 0;
  const bool reneged = queue().front_sacked();
  ++loss_recovery_.retries;
  if (!reneged || !first) back_off();  // a peer that has reneged has answered
  if (bits_.tail_probe_outstanding && bits_.tail_retransmitted)
    back_off();  // the probe, a retransmission, was not answered either
  count(counters_.timeouts);
  if (state() < State::established) return true;  // the SYN is sent again, see Endpoint::on_timer()
  suspect_black_hole(now);
  suspect_timeout();
  if (bits_.window_source == WindowSource::congestion_control) {
    PathView view = path(now);
    if (bits_.recovery == Recovery::fast && !uses_sack()) view.flight_size = pipe();
    if (congestion_.is_model_based() && first) config().paced->model.on_timeout(congestion_.cwnd());
    congestion_.on_timeout(view, first, bits_.recovery == Recovery::fast && uses_sack());
  }
  // RFC 2018 section 8: a sacked packet at the front means that the peer has dropped data it had reported. Whether the
  // timeout was spurious is then no question.
  if (reneged) {
    scoreboard().forget_sacks();
    bits_.spurious_check = SpuriousCheck::none;
  }
  AckEvent event{.now = now};
  scoreboard().mark_lost_by_timeout(lost_before(now), event, samples());
  if (retransmits_blindly()) loss_recovery_.retransmissions = 1;
  bits_.tail_probe_due = bits_.tail_probe_outstanding = bits_.reduced = false;
  bits_.cwr_due = uses_ecn();
  reordering_.on_recovery();
  bits_.recovery = Recovery::timeout;
  loss_recovery_.point = snd_.nxt;
  loss_recovery_.duplicate_acks = 0;
  bits_.partially_acked = false;
  bits_.retransmit_first = true;
  if (fin_outstanding()) bits_.fin_due_again = true;
  return true;
}

/// True if the oldest segment is due for retransmission after a timeout, but the caller has not permitted its bytes
/// yet.
bool Sender::retransmission_waits() const {
  return bits_.recovery == Recovery::timeout && retransmits_first();
}

/// True if the timer must be armed for segments in flight while a retransmission waits for the caller's permission. The
/// segments in flight use up part of the bytes that the caller permits. So they must count as lost if no ACK arrives.
bool Sender::must_guard_flight() const {
  return armed() == Timer::none && retransmission_waits() && pipe() != 0;
}

/// Returns the send time up to which packets count as lost after a timeout. Later packets had no time to be
/// acknowledged (RFC 8985 section 6.3). Without SACK all packets count as lost, because their loss could not be
/// detected later.
Instant Sender::lost_before(Instant now) const {
  if (!uses_sack() || !has_rtt()) return now;
  const std::uint32_t rtt = std::max(recovery_state().rack.rtt(), tick::us(srtt()));
  return now - tick::us_duration(rtt + reordering_window());
}

}  // namespace sluice::tcp

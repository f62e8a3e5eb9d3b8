// Detection and reversal of spurious retransmissions, which a pause of the radio link or reordering causes. After a
// timeout only the oldest segment is retransmitted until an ACK shows whether the others are lost. If they are not, the
// state before the timeout is restored. Detection: Eifel (RFC 3522) by timestamps, F-RTO (RFC 5682) after timeouts, and
// D-SACK (RFC 2883, RFC 3708). Response: RFC 4015. Called by ack_processing.cpp and recovery.cpp.

#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {

/// Starts the F-RTO test after a timeout (RFC 5682 section 2.1 step 1). Only the oldest segment may have been
/// retransmitted, because otherwise an ACK could belong to another retransmission. No test therefore starts during an
/// earlier recovery. A second timeout without any answer continues the test.
void Sender::suspect_timeout() {
  const bool unanswered =
      bits_.recovery == Recovery::timeout && (bits_.spurious_check == SpuriousCheck::retransmission_due ||
                                              bits_.spurious_check == SpuriousCheck::retransmission_sent);
  if (bits_.recovery != Recovery::none && !unanswered) {
    loss_recovery_.retransmissions =
        retransmissions_unknown;  // a D-SACK could not be attributed to one of several retransmissions
  } else if (!unanswered) {
    loss_recovery_.retransmissions = 0;
  }
  if (!queue().outstanding() || !detects_spurious_retransmissions() ||
      (bits_.recovery != Recovery::none && !unanswered)) {
    bits_.spurious_check = SpuriousCheck::none;
  } else if (!unanswered) {
    bits_.spurious_check = SpuriousCheck::retransmission_due;
  }
  if (bits_.tail_probe_outstanding && bits_.tail_retransmitted)
    loss_recovery_.retransmissions = retransmissions_unknown;
}

/// Records a retransmission. The test for a spurious recovery uses only the first retransmission of that recovery (RFC
/// 3522 section 3.2 step 2).
void Sender::on_retransmitted() {
  if (uses_sack() && loss_recovery_.retransmissions < retransmissions_unknown) ++loss_recovery_.retransmissions;
  if (bits_.spurious_check == SpuriousCheck::retransmission_due)
    bits_.spurious_check = SpuriousCheck::retransmission_sent;
}

/// True if an ACK of new data echoes a timestamp from before the first retransmission of the recovery. Such an ACK
/// acknowledges the original transmission (RFC 3522 section 3.2 step 5). A newer echo proves nothing, because the
/// timestamp clock may not have advanced between both transmissions.
bool Sender::answers_original(const Segment& segment) const {
  if (bits_.spurious_check == SpuriousCheck::retransmission_due) return true;  // nothing was retransmitted yet
  if (bits_.spurious_check != SpuriousCheck::retransmission_sent || !uses_timestamps() || !segment.has_timestamps ||
      segment.ts_echo == 0)
    return false;
  return static_cast<std::int32_t>(segment.ts_echo - recovery_state().retransmission_ts) < 0;
}

/// Evaluates an ACK of new data during fast recovery; `original` is true if the ACK acknowledges an original
/// transmission. The recovery was spurious if all data that was marked lost has arrived in its original transmission.
/// That is the case if the packet at the front of the send queue is not marked lost.
void Sender::judge_fast_recovery(bool original) {
  if (!original) {
    bits_.spurious_check = SpuriousCheck::none;
  } else if (!queue().front_lost()) {
    undo_recovery();
  }
}

/// True if the first SACK block is a D-SACK: below the acknowledgement number or within the second block (RFC 2883
/// section 4).
bool Sender::reports_duplicate(const Segment& segment) {
  if (segment.sack_count == 0) return false;
  const SackBlock first = segment.sack_blocks[0];
  const SackBlock second = segment.sack_blocks[1];
  const bool below = first.right <= segment.ack;
  const bool inside = segment.sack_count > 1 && second.left <= first.left && first.right <= second.right;
  return first.left < first.right && (below || inside);
}

/// Counts a D-SACK. If every retransmission of a recovery was a duplicate, the recovery was spurious (RFC 3708 section
/// 3).
void Sender::count_duplicate(const Segment& segment) {
  const SackBlock first = segment.sack_blocks[0];
  if (loss_recovery_.retransmissions == retransmissions_unknown || !config().takes_back) return;
  // The D-SACK belongs to an older recovery or to none.
  const auto reach = static_cast<std::int32_t>(congestion_.prior_cwnd() + Rack::threshold * mtu_.mss);
  if (first.right > loss_recovery_.point || loss_recovery_.point - first.left > reach) return;
  const std::uint32_t count = (static_cast<std::uint32_t>(first.right - first.left) + mtu_.mss - 1) / mtu_.mss;
  loss_recovery_.retransmissions = static_cast<std::uint8_t>(
      loss_recovery_.retransmissions - std::min<std::uint32_t>(loss_recovery_.retransmissions, count));
  if (loss_recovery_.retransmissions == 0 && (bits_.recovery != Recovery::fast || queue().to_retransmit() == 0))
    undo_recovery();
}

/// Evaluates an ACK for the F-RTO test, after the scoreboard was updated with the ACK (RFC 5682 section 2.1; with SACK,
/// section 3.1).
void Sender::judge_timeout(const Segment& segment, const AckEvent& event) {
  if (bits_.spurious_check == SpuriousCheck::retransmission_answered) {
    judge_second_answer(segment, event);
    return;
  }
  if (event.acked == 0) {  // with SACK, step 2 waits for the ACK of the retransmission
    if (event.duplicate && !uses_sack()) bits_.spurious_check = SpuriousCheck::none;
    return;
  }
  // Step 2: new data must trigger the next ACK. If everything is acknowledged, no test is possible.
  const bool tells = snd_.una < loss_recovery_.point && !queue().front_retransmitted() && may_send_new();
  bits_.spurious_check = tells ? SpuriousCheck::retransmission_answered : SpuriousCheck::none;
  if (tells) bits_.retransmit_first = false;
}

/// Evaluates the second ACK after the timeout (F-RTO, step 3 of RFC 5682 sections 2.1 and 3.1). The timeout was
/// spurious if the ACK acknowledges data that was sent once. The loss was real if only the new data has arrived.
void Sender::judge_second_answer(const Segment& segment, const AckEvent& event) {
  const auto beyond = [this](const SackBlock& block) { return block.right > loss_recovery_.point; };
  const bool real = uses_sack() ? snd_.una > loss_recovery_.point || std::ranges::any_of(segment.sacks(), beyond)
                                : event.acked == 0 && event.duplicate;
  if (real) {
    bits_.spurious_check = SpuriousCheck::none;
    bits_.retransmit_first = true;  // step 3a: a window of three segments, two of which are in flight
  } else if (event.acked != 0 || event.newly_sacked != 0) {
    undo_recovery();
  }
}

/// Restores the state before a spurious recovery (RFC 4015): sending continues with new data under the earlier cwnd.
/// There is no burst, because each ACK permits as much data as without the timeout. RTT samples of segments sent once
/// include the pause, so the RTO grows, as RFC 4015 section 3.4 intends. The backoff of the RTO ends with the first ACK
/// of a segment that was sent once.
void Sender::undo_recovery() {
  bits_.spurious_check = SpuriousCheck::none;
  loss_recovery_.retransmissions = 0;
  if (bits_.recovery != Recovery::none) {
    loss_recovery_.point = snd_.una - 1;  // three more duplicate ACKs count again (RFC 5682 section 2.1 step 3b)
    if (bits_.recovery == Recovery::fast) reordering_.record_reordering();
    if (has_recovery_state())
      ensure_recovery_state().rack.forget();  // it may have taken an original for its retransmission
    bits_.recovery = Recovery::none;
    loss_recovery_.duplicate_acks = 0;
    bits_.retransmit_first = bits_.fin_due_again = bits_.partially_acked = false;
    if (has_recovery_state()) scoreboard().unmark_lost();
  }
  if (congestion_.is_model_based()) undo_model();
  if (bits_.window_source == WindowSource::congestion_control) congestion_.undo();
}

}  // namespace sluice::tcp

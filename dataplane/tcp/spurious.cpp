#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

// Repairs that nothing was lost for: a radio that paused and a timeout, a path that reordered and a fast recovery.
// After a timeout only the oldest segment is repeated until an acknowledgement has told whether the others are lost;
// when they are not, all is put back as it was. Detection: Eifel (RFC 3522) where a timestamp tells the original from
// its copy, F-RTO (RFC 5682) for timeouts, reports of duplicates (RFC 2883, 3708). Response: RFC 4015.

namespace sluice::tcp {

/// RFC 5682 section 2.1 step 1. Nothing but the oldest segment may have been sent twice, else an acknowledgement could
/// be that of another copy: so not in the middle of an earlier repair. A second timeout without any answer changes
/// nothing about that.
void Endpoint::suspect_timeout() {
  const bool unanswered =
      bits_.recovery == Recovery::timeout && (bits_.doubt == Doubt::copy_due || bits_.doubt == Doubt::copy_sent);
  if (bits_.recovery != Recovery::none && !unanswered) {
    repair_.copies = copies_unknown;  // which copy a duplicate was of could not be told
  } else if (!unanswered) {
    repair_.copies = 0;
  }
  if (!send_.outstanding() || !judges_repairs() || (bits_.recovery != Recovery::none && !unanswered)) {
    bits_.doubt = Doubt::none;
  } else if (!unanswered) {
    bits_.doubt = Doubt::copy_due;
  }
  if (bits_.tail_out && bits_.tail_repeated) repair_.copies = copies_unknown;
}

/// Something has been repeated. What counts is the first copy (RFC 3522 section 3.2 step 2).
void Endpoint::copy_went_out() {
  if (bits_.use_sack && repair_.copies < copies_unknown) ++repair_.copies;
  if (bits_.doubt == Doubt::copy_due) bits_.doubt = Doubt::copy_sent;
}

/// RFC 3522 section 3.2 step 5: an acknowledgement of new data that echoes a timestamp from before the copy answers the
/// original. The other direction proves nothing here: our clock may be another's that stood still between the two.
bool Endpoint::answers_original(const Segment& segment) const {
  if (bits_.doubt == Doubt::copy_due) return true;  // there is no copy yet
  if (bits_.doubt != Doubt::copy_sent || !bits_.use_timestamps || !segment.has_timestamps || segment.ts_echo == 0)
    return false;
  return static_cast<std::int32_t>(segment.ts_echo - disturbance().copy_ts) < 0;
}

/// A fast recovery, when new data has been acknowledged: it was for nothing once the originals of all that was taken
/// for lost have arrived. What is left of it lies from the front on.
void Endpoint::judge_fast_recovery(bool original) {
  if (!original) {
    bits_.doubt = Doubt::none;
  } else if (!send_.front_lost()) {
    undo_recovery();
  }
}

/// RFC 2883 section 4: in the first block, below the acknowledgement or within the second.
bool Endpoint::reports_duplicate(const Segment& segment) {
  if (segment.sack_count == 0) return false;
  const SackBlock first = segment.sack_blocks[0];
  const SackBlock second = segment.sack_blocks[1];
  const bool below = first.right <= segment.ack;
  const bool inside = segment.sack_count > 1 && second.left <= first.left && first.right <= second.right;
  return first.left < first.right && (below || inside);
}

/// The peer has reported a duplicate. When every copy of a repair turns out to be one, the repair was for nothing
/// (RFC 3708 section 3).
void Endpoint::count_duplicate(const Segment& segment) {
  const SackBlock first = segment.sack_blocks[0];
  if (repair_.copies == copies_unknown || !config_->takes_back) return;
  // Of an older repair, or of none.
  const auto reach = static_cast<std::int32_t>(congestion_.prior_cwnd() + Rack::threshold * mtu_.mss);
  if (first.right > repair_.point || repair_.point - first.left > reach) return;
  const std::uint32_t count = (static_cast<std::uint32_t>(first.right - first.left) + mtu_.mss - 1) / mtu_.mss;
  repair_.copies = static_cast<std::uint8_t>(repair_.copies - std::min<std::uint32_t>(repair_.copies, count));
  if (repair_.copies == 0 && (bits_.recovery != Recovery::fast || send_.to_retransmit() == 0)) undo_recovery();
}

/// F-RTO, once an acknowledgement has been entered in the scoreboard: section 2.1 of RFC 5682, with SACK section 3.1.
void Endpoint::judge_timeout(const Segment& segment, const AckEvent& event) {
  if (bits_.doubt == Doubt::copy_answered) {
    judge_second_answer(segment, event);
    return;
  }
  if (event.acked == 0) {  // with SACK step 2 goes on until the copy's acknowledgement
    if (event.duplicate && !bits_.use_sack) bits_.doubt = Doubt::none;
    return;
  }
  // Step 2: new data must provoke the next answer. Where all is acknowledged there is nothing left to ask.
  const bool tells = snd_.una < repair_.point && !send_.front_repeated() && may_send_new();
  bits_.doubt = tells ? Doubt::copy_answered : Doubt::none;
  if (tells) bits_.retransmit_first = false;
}

/// Step 3: what was sent once arrives, so it was not lost; or the new data arrived and it did not.
void Endpoint::judge_second_answer(const Segment& segment, const AckEvent& event) {
  const auto beyond = [this](const SackBlock& block) { return block.right > repair_.point; };
  const bool real = bits_.use_sack ? snd_.una > repair_.point || std::ranges::any_of(segment.sacks(), beyond)
                                   : event.acked == 0 && event.duplicate;
  if (real) {
    bits_.doubt = Doubt::none;
    bits_.retransmit_first = true;  // step 3a: a window of three, and two are out
  } else if (event.acked != 0 || event.newly_sacked != 0) {
    undo_recovery();
  }
}

/// RFC 4015: on with new data, under the window of before. That is no burst: it is what these acknowledgements would
/// have released without the timeout. The segments that were sent once give round-trip times that contain the pause,
/// and with them the RTO grows (section 3.4's aim); the backoff stays until the first of them.
void Endpoint::undo_recovery() {
  bits_.doubt = Doubt::none;
  repair_.copies = 0;
  if (bits_.recovery != Recovery::none) {
    repair_.point = snd_.una - 1;  // three more duplicates are news again (RFC 5682 section 2.1 step 3b)
    if (bits_.recovery == Recovery::fast) reordering_.note_reordering();
    if (disturbed()) disturb().rack.forget();  // it may have taken an original for its copy
    bits_.recovery = Recovery::none;
    repair_.duplicate_acks = 0;
    bits_.retransmit_first = bits_.fin_due_again = bits_.partially_acked = false;
    if (disturbed()) scoreboard().unmark_lost();
  }
  if (congestion_.modelled()) undo_model();
  if (bits_.window_source == WindowSource::congestion_control) congestion_.undo();
}

}  // namespace sluice::tcp

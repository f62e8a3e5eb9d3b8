#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"

// Loss recovery: fast (RFC 6675 with SACK, RFC 6582 without) and after a timeout (RFC 6298 section 5, RFC 5681).
// Detection marks packets in the send queue; what and how much
// is sent is emit.cpp's.

namespace sluice::tcp {

void Endpoint::recover(AckEvent& event) {
  if (event.acked != 0) {
    if (recovery_ != Recovery::none && snd_una_ >= recovery_point_) {
      leave_recovery(event);
    } else if (recovery_ == Recovery::fast && !use_sack_) {
      on_partial_ack(event);
    } else if (recovery_ == Recovery::none) {
      duplicate_acks_ = 0;
    }
  }
  if (use_sack_) {
    send_.mark_lost_by_sack(event);
    if (recovery_ == Recovery::none && send_.to_retransmit() != 0) enter_fast_recovery(event);
    speculation_due_ = recovery_ == Recovery::fast;
  } else if (event.duplicate) {
    on_duplicate_ack(event);
  }
}

/// Without SACK.
void Endpoint::on_duplicate_ack(AckEvent& event) {
  if (recovery_ == Recovery::timeout) return;
  if (duplicate_acks_ < UINT16_MAX && pipe() > 0) ++duplicate_acks_;
  if (recovery_ != Recovery::none || duplicate_acks_ < SendQueue::threshold) return;
  // RFC 6582 section 3.2 step 1: what a timeout sent again must not look like a new loss.
  if (snd_una_ <= recovery_point_) return;
  send_.mark_front_lost(event);
  enter_fast_recovery(event);
}

/// Without SACK: an acknowledgement short of the recovery point shows the next hole (RFC 6582 section 3.2 step 3 (2)).
/// Of the segments it covers one was the retransmission; the others had been counted as duplicates.
void Endpoint::on_partial_ack(AckEvent& event) {
  const std::uint32_t arrived = event.acked > mss_ ? (event.acked - 1) / mss_ : 0;
  duplicate_acks_ = static_cast<std::uint16_t>(duplicate_acks_ - std::min<std::uint32_t>(duplicate_acks_, arrived));
  send_.mark_front_lost(event);
  retransmit_first_ = true;
  partially_acked_ = true;
}

void Endpoint::enter_fast_recovery(const AckEvent& event) {
  recovery_ = Recovery::fast;
  recovery_point_ = snd_nxt_;
  rescued_ = false;
  doubt_ = Doubt::copy_due;
  copies_ = 0;
  retransmit_first_ = true;  // RFC 6675 section 5 step 4.3: the first one does not wait for the window
  if (counters_.fast_recoveries < UINT16_MAX) ++counters_.fast_recoveries;
  if (window_source_ == WindowSource::congestion_control) congestion_.on_congestion(path(event.now));
}

void Endpoint::leave_recovery(const AckEvent& event) {
  if (recovery_ == Recovery::fast && window_source_ == WindowSource::congestion_control) {
    congestion_.on_recovery_exit(path(event.now));
  }
  recovery_ = Recovery::none;
  doubt_ = Doubt::none;
  duplicate_acks_ = 0;
  retransmit_first_ = false;
  partially_acked_ = false;
}

/// RFC 6298 section 5.4 to 5.6. The timer starts again when something is sent: a sender that is kept from sending (no
/// allowance, no buffer) has not been left without an answer.
void Endpoint::on_retransmission_timeout(Instant now) {
  if (retries_ >= config_->max_retransmissions) {
    give_up();
    return;
  }
  const bool first = retries_ == 0;
  ++retries_;
  if (backoff_ < backoff_limit) ++backoff_;
  if (counters_.timeouts < UINT16_MAX) ++counters_.timeouts;
  if (state_ == State::syn_sent || state_ == State::syn_received) {
    syn_due_ = true;
    return;
  }
  suspect_timeout();
  if (window_source_ == WindowSource::congestion_control) {
    PathView view = path(now);
    if (recovery_ == Recovery::fast && !use_sack_) view.flight_size = pipe();
    congestion_.on_timeout(view, first);
  }
  // RFC 2018 section 8: a peer that has dropped what it reported leaves its own report at the front.
  if (send_.front_sacked()) send_.forget_sacks();
  send_.mark_all_lost();
  recovery_ = Recovery::timeout;
  recovery_point_ = snd_nxt_;
  duplicate_acks_ = 0;
  partially_acked_ = false;
  retransmit_first_ = true;
  if (fin_outstanding()) fin_due_again_ = true;
}

}  // namespace sluice::tcp

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

// What to do with a segment that came in: RFC 9293 section 3.10.7, with RFC 5961 and RFC 7323.

namespace sluice::tcp {
namespace {

constexpr std::chrono::hours timestamp_age_limit{24 * 24};  ///< RFC 7323 section 5.5
constexpr std::uint8_t ignored_flags = Flags::psh_bit;
/// So far behind RCV.NXT at least a peer may begin that repeats what it has not heard an acknowledgement of.
constexpr std::uint32_t least_repeated = 1U << 20;

}  // namespace

/// The fast path takes the next data in order, or an acknowledgement that makes progress, on an open connection that
/// is not repairing, reordering or closing anything (settle() decides that).
inline bool Endpoint::is_expected(const Segment& segment) const {
  if (!on_fast_path_) return false;
  if ((segment.flags.bits & ~ignored_flags) != Flags::ack_bit || segment.sack_count != 0) return false;
  if (segment.seq != rcv_nxt_ || segment.payload_len > rcv_edge_ - rcv_nxt_) return false;
  const std::int32_t acked = segment.ack - snd_una_;
  if (acked < 0 || segment.ack > snd_nxt_) return false;
  if (acked == 0 && segment.payload_len == 0) return false;  // duplicate or window update
  if (use_ecn_ && segment.ecn == congestion_experienced) return false;
  if (!use_timestamps_) return true;
  return segment.has_timestamps && static_cast<std::int32_t>(segment.ts_value - ts_recent_) >= 0;
}

/// The fast path's acknowledgement: makes progress, carries no SACK, meets nothing under repair.
inline void Endpoint::acknowledge(SeqNum ack, Instant now, AckNews* news) {
  AckEvent event{.now = now, .cwnd_limited = cwnd_limited_};
  advance_una(ack, event);
  event.delivered = event.acked;
  if (news != nullptr) *news = {event.delivered, event.rtt};
  if (window_source_ == WindowSource::congestion_control) congestion_.on_ack(event, path(now), false);
}

bool Endpoint::receive(const Segment& segment, packet::Packet&& payload, Instant now, AckNews* news) {
  if (!is_expected(segment)) [[unlikely]] {
    const bool plausible = is_plausible(segment);
    on_fast_path_ = false;
    receive_slow(segment, std::move(payload), now, news);
    settle();
    return plausible;
  }
  if (use_timestamps_) remember_timestamp(segment, now);
  const SeqNum before = snd_una_;
  if (segment.ack != before) acknowledge(segment.ack, now, news);
  update_window(segment, before);
  if (segment.payload_len == 0) return true;
  append_in_order(std::move(payload));
  schedule_ack(now);
  return true;
}

bool Endpoint::is_plausible(const Segment& segment) const {
  if (state_ < State::established || segment.flags.syn()) return false;
  if (segment.flags.rst()) return segment.seq == rcv_nxt_;
  if (!segment.flags.ack() || segment.ack < snd_una_ || segment.ack > snd_nxt_) return false;
  const bool dated = use_timestamps_ && segment.has_timestamps;
  if (dated && static_cast<std::int32_t>(segment.ts_value - ts_recent_) < 0) return false;
  return segment.seq + std::max(room_, least_repeated) >= rcv_nxt_ && segment.seq <= later(rcv_edge_, rcv_nxt_);
}

bool Endpoint::receive_without_payload(const Segment& segment, Instant now, AckNews* news) {
  const bool plausible = is_plausible(segment);
  on_fast_path_ = false;
  receive_slow(segment, {}, now, news);
  settle();
  return plausible;
}

void Endpoint::receive_slow(const Segment& segment, packet::Packet&& payload, Instant now, AckNews* news) {
  if (state_ == State::closed || reset_due_) return;
  if (state_ == State::syn_sent) {
    receive_in_syn_sent(segment, now);
    return;
  }
  if (segment.flags.rst()) {
    receive_reset(segment, now);
    return;
  }
  if (!check_timestamp(segment, now)) return;
  if (segment.flags.syn()) {
    receive_late_syn(segment, now);
    return;
  }
  if (!check_sequence(segment, now)) return;
  if (state_ == State::syn_received && !complete_handshake(segment, now)) return;
  if (!process_ack(segment, now, news)) return;
  if (use_timestamps_) remember_timestamp(segment, now);  // not before its acknowledgement was found good
  if (segment.flags.urg()) take_urgent_pointer(segment);
  if (segment.payload_len != 0 || segment.flags.fin()) accept_data(segment, std::move(payload), now);
}

/// RFC 9293 section 3.10.7.4, first check. A segment at the very edge of the window passes, so that the
/// acknowledgement of a peer that has filled the window is heard, and so that data meeting a closed window still has
/// its acknowledgement read (its bytes are cut off later).
bool Endpoint::check_sequence(const Segment& segment, Instant now) {
  const SeqNum end = segment.seq + segment.length();
  const bool begins_inside = segment.seq <= later(rcv_edge_, rcv_nxt_);
  const bool news = segment.length() == 0 ? segment.seq >= rcv_nxt_ : end > rcv_nxt_;
  if (begins_inside && news) return true;
  if (is_keepalive(segment)) {
    keepalive_pending_ = true;
    return false;
  }
  if (segment.length() == 0) {
    challenge(now);  // a keep-alive or a window probe; two lost peers must not answer each other for ever
    return false;
  }
  count(counters_.discarded);
  if (!begins_inside) {
    ack_now_ = true;
    return false;
  }
  if (segment.payload_len != 0) report_duplicate(segment.seq, earlier(segment.seq + segment.payload_len, rcv_nxt_));
  if (state_ == State::time_wait && segment.flags.fin() && end == rcv_nxt_) enter_time_wait(now);
  ack_now_ = true;
  return false;
}

/// What the owner answers: a keep-alive, which is one below RCV.NXT, empty or with a byte of garbage, while nothing is
/// under way either way (else our acknowledgement may have been lost); and the same as a probe of a closed window.
bool Endpoint::is_keepalive(const Segment& segment) const {
  if (segment.seq + 1 != rcv_nxt_ || segment.payload_len > 1 || segment.flags.fin()) return false;
  if (probes_window()) return true;
  return owner_answers() && send_.empty() && snd_una_ == snd_nxt_ && unread_ == 0 && reassembly_.empty();
}

bool Endpoint::owner_answers() const {
  const bool open = state_ == State::established || state_ == State::close_wait || state_ == State::fin_wait_2;
  return !config_->answers_keepalives && open && last_ack_sent_ == rcv_nxt_;
}

/// A segment that asks is a probe of a window that the peer sees closed: where the owner's own peer may have opened
/// its window meanwhile, only that one knows.
bool Endpoint::probes_window() const {
  return owner_answers() && rcv_edge_ - rcv_nxt_ < 1 << rcv_shift_;
}

/// Protection against wrapped sequence numbers: RFC 7323 section 5.3.
bool Endpoint::check_timestamp(const Segment& segment, Instant now) {
  if (!use_timestamps_ || !segment.has_timestamps) return true;
  if (static_cast<std::int32_t>(segment.ts_value - ts_recent_) >= 0) return true;
  if (static_cast<std::uint16_t>(tick::slow(now) - ts_recent_at_) > tick::slow(timestamp_age_limit)) return true;
  count(counters_.discarded);
  if (segment.length() != 0) {
    ack_now_ = true;
  } else {
    challenge(now);
  }
  return false;
}

/// RFC 5961 section 3.2: only a reset at exactly RCV.NXT is believed; one elsewhere in the window is challenged.
void Endpoint::receive_reset(const Segment& segment, Instant now) {
  if (segment.seq == rcv_nxt_) {
    close(state_ == State::time_wait ? CloseReason::finished : CloseReason::reset_by_peer);
    return;
  }
  if (segment.seq > rcv_nxt_ && segment.seq < rcv_edge_) challenge(now);
}

/// A SYN after the handshake: a repeated SYN-ACK whose acknowledgement was lost, or an attack. Either way what we have
/// received so far is the answer (RFC 5961 section 4.2).
void Endpoint::receive_late_syn(const Segment& segment, Instant now) {
  const bool repeated = state_ == State::syn_received && segment.seq + 1 == rcv_nxt_;
  if (!repeated) {
    challenge(now);
    return;
  }
  if (complete_handshake(segment, now)) {
    ack_now_ = true;  // simultaneous open: their SYN-ACK
  } else if (!segment.flags.ack()) {
    syn_due_ = true;
  }
}

/// An acknowledgement that no data asked for: limited, as RFC 5961 section 7 wants.
void Endpoint::challenge(Instant now) {
  const std::uint16_t tick = tick::rough(now);
  if (static_cast<std::uint16_t>(tick - last_challenge_) < challenge_spacing) return;
  last_challenge_ = tick;
  ack_now_ = true;
}

}  // namespace sluice::tcp

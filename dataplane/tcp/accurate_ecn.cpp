// Accurate ECN feedback (RFC 9768): the counters, and their use by an endpoint. Sender and Receiver call it for each
// segment of a connection that agreed on this feedback. The last part joins the counts of two hosts when a split
// connection is handed back.
#include "dataplane/tcp/accurate_ecn.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

/// Number of newly acknowledged packets over which the moving average of the share of CE-marked packets is taken.
constexpr float share_packets = 32;

/// True if the second timestamp is newer than the first.
bool is_later(std::uint32_t before, std::uint32_t value) {
  return static_cast<std::int32_t>(value - before) > 0;
}

}  // namespace

void AccurateEcn::adopt(const AdoptedFeedback& feedback) {
  received_ = feedback.received;
  acknowledged_ = feedback.acknowledged;
  check(feedback.sent_ecn, feedback.reported_ecn);
  zeroed_ = feedback.zeroed;
  if (zeroed_) intact_ = false;
}

/// Compares the ECN field of a SYN or SYN-ACK with the field that the peer has reported. A queue may have marked an
/// ECN-capable segment; any other difference shows that the path changes the field (RFC 9768 section 3.2.2.3). In that
/// case no data is sent as ECN-capable.
void AccurateEcn::check(std::uint8_t sent_ecn, std::uint8_t reported_ecn) {
  const bool queued = sent_ecn != 0 && reported_ecn == congestion_experienced;
  intact_ = reported_ecn == sent_ecn || queued;
}

std::uint8_t AccurateEcn::reported_field(std::uint8_t ace, std::uint8_t sent) {
  const std::array<std::uint8_t, wrap> by_code = {
      sent, sent, 0, ecn_scalable, ecn_capable, sent, congestion_experienced, sent};
  return by_code.at(ace & 7U);
}

void AccurateEcn::on_syn(std::uint16_t ecn, bool answers) {
  syn_ecn_ = ecn;
  answer_due_ = answers;
  received_ = first_count;
  if (answers) on_segment(ecn, false);
}

bool AccurateEcn::on_segment(std::uint16_t ecn, bool carries_data) {
  const bool marked = ecn == congestion_experienced;
  if (marked) {
    ++received_;
    if (unreported_ < UINT8_MAX) ++unreported_;
  }
  if (!carries_data) return false;
  const bool changed = marked != last_marked_;
  last_marked_ = marked;
  return changed;
}

std::uint8_t AccurateEcn::handshake_ace() const {
  constexpr std::array<std::uint8_t, 4> by_codepoint = {not_capable, 3, 4, 6};  // Not-ECT, ECT(1), ECT(0), CE
  return by_codepoint.at(syn_ecn_ & 3U);
}

void AccurateEcn::syn_arrived(std::uint8_t ace) {
  check(0, reported_field(ace, 0));
}

void AccurateEcn::syn_ack_arrived(std::uint8_t ace, bool bare) {
  constexpr std::uint8_t first_with_mark = 6;
  if (bare) check(0, reported_field(ace, 0));
  zeroed_ = ace == 0;
  if (zeroed_) intact_ = false;
  acknowledged_ = ace == first_with_mark ? first_with_mark : first_count;
}

bool AccurateEcn::is_newest(const Segment& segment, bool delivers) {
  if (!delivers && !(segment.has_timestamps && timed_ && is_later(ts_value_, segment.ts_value))) return false;
  if (segment.has_timestamps) {
    ts_value_ = segment.ts_value;
    timed_ = true;
  }
  return true;
}

std::uint32_t AccurateEcn::marked(std::uint8_t ace, std::uint32_t packets) {
  std::uint32_t marks = (wrap + ace - (acknowledged_ & 7U)) % wrap;
  acknowledged_ = ace;
  if (zeroed_) return 0;
  // The receiver sends an ACK after seven marks at the latest, so more marks are only possible if ACKs were lost.
  const auto expected = static_cast<std::uint32_t>(std::ceil(share_ * static_cast<float>(packets)));
  while (marks < expected && marks + wrap <= packets) marks += wrap;
  if (packets != 0) {
    const float weight = std::min(1.0F, static_cast<float>(packets) / share_packets);
    share_ += weight * (std::min(1.0F, static_cast<float>(marks) / static_cast<float>(packets)) - share_);
  }
  const auto own = static_cast<std::uint8_t>(std::min<std::uint32_t>(marks, hidden_));
  hidden_ = static_cast<std::uint8_t>(hidden_ - own);
  return marks - own;
}

void AccurateEcn::join(std::uint8_t reported) {
  reported_ = reported & 7U;
  passed_ = acknowledged_ & 7U;
  own_ = 0;
  incapable_ = 0;
  asked_ = 0;
  not_before_ = Instant();
  ask_again_ = never;
  any_passed_ = acks_due_ = join_ended_ = false;
  gap_ = gap_to(passed_);
}

/// Returns by how many CE packets the peer's count must still rise at a handback, when the proxy stops splitting a
/// connection. `ace` is the count that the peer reports now. The other host last received the count `reported_` from
/// the proxy in the peer's name. A jump from `reported_` to `ace` would look like congestion to that host. Returns 0
/// after end_join(), and if data to the peer may not be ECN-capable, because the peer's count cannot be raised then.
std::uint8_t AccurateEcn::gap_to(std::uint8_t ace) const {
  return may_mark() && !join_ended_ ? static_cast<std::uint8_t>((unsigned{wrap} + reported_ - ace) % wrap)
                                    : std::uint8_t{0};
}

/// True if the segment is older than the newest one that pass() has processed. Compares acknowledgement numbers, then
/// timestamps. If both are equal, `step` decides: the ACE field of this segment minus that of the newest one, modulo 8.
/// A step above 4 then means older, because the count only rises, and rarely by more than 4 between two segments.
bool AccurateEcn::is_stale(const Segment& segment, unsigned step) const {
  constexpr unsigned half = wrap / 2;
  if (!any_passed_) return false;
  if (segment.ack != passed_ack_) return segment.ack < passed_ack_;
  if (segment.has_timestamps && segment.ts_value != passed_ts_) return !is_later(passed_ts_, segment.ts_value);
  return step > half;
}

std::uint8_t AccurateEcn::pass(const Segment& segment, bool of_own_data, Instant now) {
  const std::uint8_t ace = ace_of(segment.flags);
  const unsigned step = (unsigned{wrap} + ace - passed_) % wrap;
  if (gap_ == 0 && !of_own_data) return ace;
  if (is_stale(segment, step)) return reported_;
  any_passed_ = true;
  passed_ack_ = segment.ack;
  passed_ts_ = segment.ts_value;
  passed_ = ace;
  const auto reached = static_cast<std::uint8_t>(std::min<unsigned>(step, gap_));
  gap_ = of_own_data ? gap_to(ace) : static_cast<std::uint8_t>(gap_ - reached);
  own_ = static_cast<std::uint8_t>(own_ - std::min(own_, reached));
  // What the peer has acknowledged has arrived with its mark, or was lost and repaired without one.
  if (segment.ack >= own_end_ && now >= not_before_) own_ = 0;
  return gap_ == 0 ? ace : reported_;
}

void AccurateEcn::mark_own(SeqNum end, Instant not_before) {
  own_end_ = own_ == 0 ? end : later(own_end_, end);
  not_before_ = std::max(not_before_, not_before);
  ++own_;
  ++hidden_;
}

AccurateEcn* ConnectionCore::accurate_ecn() const {
  AccurateEcn* const state = config_ != nullptr ? config_->accurate_ecn : nullptr;
  return state != nullptr && state->agreed() ? state : nullptr;
}

/// Sets the ECN fields of an outgoing segment on a connection with accurate ECN. Every segment has the ACE field, and
/// new data has an ECN-capable codepoint, which the congestion control selects. The codepoint is ECT(0) if the caller's
/// allowance (bytes permitted to send) replaces cwnd. The reason is that ECT(1) requires a scalable congestion control
/// (RFC 9331 section 4).
void Sender::mark_accurately(AccurateEcn& state, Segment& segment) const {
  segment.flags.bits |= ace_bits(state.report());
  if (segment.payload_len == 0 || !state.may_mark()) return;
  const bool uses_cwnd = bits_.window_source == WindowSource::congestion_control;
  segment.ecn = uses_cwnd ? congestion_.codepoint() : ecn_capable;
}

/// Sends the first acknowledgement of the SYN-ACK as a pure ACK, because only this ACK reports the ECN field with which
/// the SYN-ACK arrived. After join(), when a proxy stops splitting the connection, also sends the CE-marked ACKs that
/// raise the peer's count of CE packets.
void Sender::emit_accurate_answer(Instant now, Output& output) {
  AccurateEcn* const state = accurate_ecn();
  if (state == nullptr) return;
  if (state->marked_acks_due()) emit_marked_acks(*state, now, output);
  if (!state->answer_due()) return;
  emit_ack(now, output);
  if (!ack_is_due()) state->answered();
}

/// Sends pure ACKs that are marked CE, until the peer's count of CE packets has the value passed to join(). A
/// keep-alive (a segment below SND.UNA) follows, because the peer must answer it, and the answer contains its new
/// count. Segments of the peer that arrive within an RTO may be older than the marks, so they do not show that a mark
/// was lost.
void Sender::emit_marked_acks(AccurateEcn& state, Instant now, Output& output) {
  while (state.owes_mark()) {
    Segment segment = header(acceptable_seq());
    segment.ecn = congestion_experienced;
    if (output.transmit(segment, nullptr, now) == 0) return;
    state.mark_own(snd_.nxt, now + rto());
    ack_went_out(segment);
  }
  state.marked_acks_sent(now + rto());
  send_keepalive();
}

/// Counts the ECN mark of an acceptable segment, with or without data, new or retransmitted. Decides whether an ACK
/// must leave at once (RFC 9768 section 3.2.2.5.1). While the owner of the endpoint withholds ACKs of received data, an
/// ACK that only reports marks looks like a duplicate ACK. It is then sent only at the limit of seven unreported marks.
void Receiver::count_mark(const Segment& segment) {
  constexpr std::uint8_t with_data = 2, without_data = 3;
  AccurateEcn* const state = accurate_ecn();
  if (state == nullptr) return;
  const bool carries_data = segment.payload_len != 0;
  const bool changed = state->on_segment(segment.ecn, carries_data);
  const bool acknowledges = carries_data || rcv_.last_ack_sent < rcv_.nxt;
  std::uint8_t limit = acknowledges ? with_data : without_data;
  if (bits_.acks_deferred) limit = AccurateEcn::max_unreported;
  if (state->unreported() >= limit || (changed && !bits_.acks_deferred)) bits_.ack_now = true;
}

/// Processes the number of CE-marked packets that an ACK reports. Returns true if the caller must reduce cwnd as for
/// the ECE flag of RFC 3168. If the congestion control responds to the number of marks, passes the number to it and
/// returns false. An ACK that acknowledges nothing new is only processed if its timestamp is newer than the last one
/// processed. Otherwise the ACK may be outdated.
bool Sender::handle_ace(AccurateEcn& state, const Segment& segment, const AckEvent& event) {
  if (!state.is_newest(segment, event.delivered != 0)) return false;
  const std::uint32_t packets = (event.delivered + mtu_.mss - 1) / mtu_.mss;
  const std::uint32_t marked = state.marked(ace_of(segment.flags), packets);
  if (bits_.window_source != WindowSource::congestion_control || !congestion_.scalable()) return marked != 0;
  congestion_.on_feedback({.packets = packets, .marked = marked}, event, path(event.now));
  return false;
}

}  // namespace sluice::tcp

// Opening a connection (RFC 9293 section 3.5) with the options of RFC 7323, RFC 2018, RFC 3168 and RFC 9768. The owner
// calls connect(), accept() or establish_at(); receive() and emit() call the rest until the connection is established.
// Until the answer arrives, the negotiated-option bits hold what the own SYN offers.

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"

namespace sluice::tcp {
namespace {

constexpr std::uint8_t largest_shift = 14;      ///< largest shift count of window scaling (RFC 7323 section 2.3)
constexpr std::uint32_t timestamp_option = 12;  ///< bytes of a timestamp option, padding included
constexpr std::uint16_t smallest_mss = 64;      ///< smallest value of the peer's MSS option that is accepted, bytes

/// Returns the shift count in use: 0 without window scaling, at most 14.
unsigned scale_of(const SynOptions& options, bool used) {
  return used ? std::min(options.window_scale, largest_shift) : 0U;
}

}  // namespace

/// Resets the endpoint for a new connection, except settings that the owner may have made before: receive room,
/// timestamp, window source and window updates.
void Endpoint::reset_connection(const EndpointConfig& config, SeqNum iss) {
  if (config_ != nullptr) forget_connection();
  config_ = &config;
  if (config.accurate_ecn != nullptr) config.accurate_ecn->begin();
  snd_.una = snd_.nxt = loss_recovery_.point = iss;
  snd_.end = iss + 1;
  plan_boundary();
}

/// Clears the state of the last connection, except the settings of the owner.
void Endpoint::forget_connection() {
  release_queues();
  const EndpointBits before = std::exchange(bits_, EndpointBits{});
  bits_.window_source = before.window_source;
  bits_.window_updates = before.window_updates;
  snd_ = {};
  rcv_ = {};
  loss_recovery_ = {};
  mtu_ = {};
  timer_deadline_ = never;
  small_out_ = 0;
  misplaced_acks_ = 0;
  ts_recent_at_ = 0;
  rtt_ = {};
  reordering_ = {};
  congestion_ = {};
  counters_ = {};
}

/// Computes the options in use and the segment size from the SYN options of both sides.
void Endpoint::negotiate(const SynOptions& ours, const SynOptions& theirs, std::uint16_t port_mss) {
  bits_.use_timestamps = ours.timestamps && theirs.timestamps;
  bits_.use_sack = ours.sack_permitted && theirs.sack_permitted;
  bits_.use_ecn = ours.ecn && theirs.ecn;
  if (config_->accurate_ecn != nullptr) {
    config_->accurate_ecn->agree(ours.accurate_ecn && theirs.accurate_ecn);
    bits_.use_ecn = bits_.use_ecn || config_->accurate_ecn->agreed();
  }
  bits_.use_scale = ours.has_window_scale && theirs.has_window_scale;
  bits_.snd_shift = scale_of(theirs, bits_.use_scale) & 15U;
  bits_.rcv_shift = scale_of(ours, bits_.use_scale) & 15U;
  mtu_.port = beside_options(port_mss);
  mtu_.mss = mtu_.full_mss = std::min(payload_within(theirs.mss), mtu_.port);
  bits_.small_path = joins_beyond_segments();
}

/// Returns the payload per segment for an MSS option of the peer, less the options of every segment (RFC 6691).
std::uint16_t Endpoint::payload_within(std::uint16_t mss) const {
  return beside_options(std::max(mss, smallest_mss));
}

/// Returns `mss` less the options of every segment, at least 1 byte. If this exceeds the port's MTU, the owner's output
/// refuses the segment.
std::uint16_t Endpoint::beside_options(std::uint16_t mss) const {
  const unsigned options = bits_.use_timestamps ? timestamp_option : 0;
  return static_cast<std::uint16_t>(mss > options ? mss - options : 1);
}

/// Returns the options that the own SYN offers, from the bits where they are kept until the answer arrives.
SynOptions Endpoint::offer() const {
  return {.mss = mtu_.local_mss,
          .window_scale = bits_.rcv_shift,
          .has_window_scale = bits_.use_scale,
          .sack_permitted = bits_.use_sack,
          .timestamps = bits_.use_timestamps,
          .ecn = bits_.use_ecn,
          .accurate_ecn = uses_accurate_ecn()};
}

/// Returns the ECN flags of a SYN or, with `answer`, of a SYN-ACK. From the third transmission on a SYN offers no ECN,
/// because a middlebox may drop SYNs with these flags (RFC 9768 section 3.1.4.1).
std::uint16_t Endpoint::ecn_offer(bool answer) const {
  if (!bits_.use_ecn) return 0;
  const AccurateEcn* const accurate = accurate_ecn();
  if (accurate == nullptr) return answer ? Flags::ece_bit : Flags::ece_bit | Flags::cwr_bit;
  if (answer) return ace_bits(accurate->handshake_ace());
  return loss_recovery_.retries > 1 ? std::uint16_t{0} : ace_bits(7);
}

void Endpoint::connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now) {
  reset_connection(config, iss);
  mtu_.local_mss = ours.mss;
  negotiate(ours, ours);
  last_challenge_ = static_cast<std::uint16_t>(tick::ms8(now) - challenge_spacing);
  bits_.state = State::syn_sent;
  bits_.syn_due = true;
}

void Endpoint::accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours,
                      Instant now) {
  reset_connection(config, iss);
  mtu_.local_mss = ours.mss;
  last_challenge_ = static_cast<std::uint16_t>(tick::ms8(now) - challenge_spacing);
  receive_syn(syn, ours, now);
  bits_.state = State::syn_received;
  bits_.syn_due = true;
}

void Endpoint::establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now) {
  reset_connection(config, state.snd_nxt - 1);
  mtu_.local_mss = state.local.mss;
  negotiate(state.local, state.remote, state.port_mss);
  last_challenge_ = static_cast<std::uint16_t>(tick::ms8(now) - challenge_spacing);
  snd_.nxt = snd_.end = state.snd_nxt;
  if (state.snd_una_is_acked) snd_.una = state.snd_nxt;
  snd_.wnd = snd_.max_wnd = state.snd_window;
  rcv_.nxt = rcv_.last_ack_sent = state.rcv_nxt;
  snd_.wl1 = state.rcv_nxt - 1;
  rcv_.adv = later(state.rcv_adv, state.rcv_nxt);
  room_ = static_cast<std::uint32_t>(rcv_.adv - rcv_.nxt);
  rcv_.ts_recent = rcv_.newest_ts = state.ts_recent;
  ts_recent_at_ = tick::s137(now);
  if (state.rtt > Duration::zero()) rtt_.sample(state.rtt, snd_.una, snd_.nxt, config_->min_rto);
  bits_.state = State::established;
  start_sending(now);
  bits_.on_fast_path = may_go_fast();  // true for a new connection without a small path, pacing or accurate ECN
}

/// Returns the initial window of RFC 6928 in bytes: min(10 * MSS, max(2 * MSS, 14600)), scaled to the configured number
/// of segments.
std::uint32_t Endpoint::initial_window() const {
  const std::uint32_t count = config_->initial_window_segments;
  return std::min<std::uint32_t>(count * mtu_.mss, std::max<std::uint32_t>(2U * mtu_.mss, count * 1460));
}

/// Starts congestion control and pacing when the connection is established.
void Endpoint::start_sending(Instant now) {
  congestion_.start(uses_model(config_->congestion) && !paced() ? CongestionAlgorithm::cubic : config_->congestion,
                    initial_window());
  if (paced()) begin_pacing(now);
  snd_.last_sent = tick::ms(now);
}

/// Stores the initial sequence number, the window and the options of the peer's SYN or SYN-ACK.
void Endpoint::receive_syn(const Segment& syn, const SynOptions& ours, Instant now) {
  negotiate(ours, syn.syn);
  rcv_.nxt = rcv_.last_ack_sent = syn.seq + 1;
  rcv_.adv = rcv_.nxt + std::min(room_, largest_window_field);
  snd_.wl1 = syn.seq;
  snd_.wnd = snd_.max_wnd = syn.window;
  if (AccurateEcn* const accurate = accurate_ecn()) {
    accurate->on_syn(syn.ecn, syn.flags.ack());
    if (syn.flags.ack()) accurate->syn_arrived(ace_of(syn.flags));
  }
  if (bits_.use_timestamps) {
    rcv_.ts_recent = rcv_.newest_ts = syn.ts_value;
    ts_recent_at_ = tick::s137(now);
  }
}

// Handles a segment in SYN-SENT (RFC 9293 section 3.10.7.3).
void Endpoint::receive_in_syn_sent(const Segment& segment, Instant now) {
  const bool answers = segment.flags.ack() && segment.ack == snd_.nxt && snd_.nxt != snd_.una;
  if (segment.flags.ack() && !answers) return;  // belongs to an older connection
  if (segment.flags.rst()) {
    if (answers) close(CloseReason::refused);
    return;
  }
  if (!segment.flags.syn()) return;
  receive_syn(segment, offer(), now);
  if (answers) {
    establish(segment, now);
    bits_.ack_now = true;
  } else {  // simultaneous open
    bits_.state = State::syn_received;
    bits_.syn_due = true;
  }
}

/// Enters ESTABLISHED after the own SYN was acknowledged.
void Endpoint::establish(const Segment& segment, Instant now) {
  // The SYN was sent once, so the timer still has the value set by that transmission.
  if (loss_recovery_.retries == 0)
    rtt_.sample(now - (timer_deadline_ - rto()), segment.ack, snd_.nxt, config_->min_rto);
  snd_.una = segment.ack;
  bits_.backoff = 0;
  loss_recovery_.retries = 0;
  bits_.syn_due = false;
  arm(Timer::none, never);
  bits_.state = State::established;
  start_sending(now);
}

/// Handles an acceptable segment in SYN-RECEIVED. Returns true if the connection is established now.
bool Endpoint::complete_handshake(const Segment& segment, Instant now) {
  if (!segment.flags.ack()) return false;
  if (segment.ack != snd_.nxt || snd_.nxt == snd_.una) return false;
  if (AccurateEcn* const accurate = accurate_ecn()) {
    accurate->syn_ack_arrived(ace_of(segment.flags), segment.payload_len == 0);
  }
  establish(segment, now);
  snd_.wnd = std::uint32_t{segment.window} << bits_.snd_shift;
  snd_.max_wnd = std::max(snd_.max_wnd, snd_.wnd);
  snd_.wl1 = segment.seq;
  return true;
}

/// Sends the SYN or SYN-ACK if it is due.
void Endpoint::emit_handshake(Instant now, Output& output) {
  if (!bits_.syn_due) return;
  Segment segment;
  const bool answer = bits_.state == State::syn_received;
  segment.seq = snd_.una;
  segment.flags.bits = answer ? Flags::syn_bit | Flags::ack_bit : Flags::syn_bit;
  segment.flags.bits |= ecn_offer(answer);
  segment.window = static_cast<std::uint16_t>(std::min(room_, largest_window_field));
  segment.syn = offer();
  segment.has_timestamps = bits_.use_timestamps;
  segment.ts_value = ts_value_;
  if (answer) {
    segment.ack = rcv_.nxt;
    segment.ts_echo = rcv_.ts_recent;
  }
  if (output.transmit(segment, nullptr, now) == 0) return;
  if (snd_.nxt != snd_.una) ++counters_.retransmitted;
  bits_.syn_due = false;
  bits_.ack_now = false;
  snd_.nxt = snd_.una + 1;
  arm_retransmit(now);
}

}  // namespace sluice::tcp

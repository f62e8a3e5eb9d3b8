#include <algorithm>

#include "dataplane/tcp/fast_path.hpp"

// Opening a connection: RFC 9293 section 3.5, options of RFC 7323 and RFC 2018.

namespace sluice::tcp {
namespace {

constexpr std::uint8_t largest_shift = 14;      ///< RFC 7323 section 2.3
constexpr std::uint32_t timestamp_option = 12;  ///< with its padding
constexpr std::uint16_t smallest_mss = 64;      ///< a peer that announces less is not believed

unsigned scale_of(const SynOptions& options, bool used) {
  return used ? std::min(options.window_scale, largest_shift) : 0U;
}

}  // namespace

void Endpoint::reset_connection(const EndpointConfig& config, SeqNum iss) {
  release_queues();
  config_ = &config;
  snd_una_ = snd_nxt_ = iss;
  snd_end_ = iss + 1;
  recovery_point_ = iss;
  snd_wnd_ = max_wnd_ = 0;
  duplicate_acks_ = 0;
  close_reason_ = CloseReason::none;
  on_fast_path_ = false;
  recovery_ = Recovery::none;
  doubt_ = Doubt::none;
  copies_ = 0;
  backoff_ = 0;
  snd_shift_ = 0;
  rcv_shift_ = 0;
  retries_ = small_out_ = 0;
  duplicates_due_ = 0;
  unacked_segments_ = 0;
  use_timestamps_ = use_sack_ = use_scale_ = small_path_ = heard_ = use_ecn_ = ece_due_ = cwr_due_ = reduced_ = false;
  acks_held_ = ack_now_ = syn_due_ = probe_due_ = reset_due_ = split_due_ = retransmit_first_ = false;
  cwnd_limited_ = tail_due_ = tail_out_ = false;
  fin_wanted_ = fin_sent_ = fin_due_again_ = fin_known_ = fin_received_ = false;
  timer_ = Timer::none;
  timer_deadline_ = delayed_ack_deadline_ = never;
  rtt_ = {};
  rack_ = {};
  congestion_ = {};
  ts_recent_ = newest_ts_ = 0;
  ts_recent_at_ = 0;
  urgent_in_ = urgent_out_ = trying_larger_ = keepalive_pending_ = false;
  search_step_ = 0;
  shrunk_at_ = 0;
  counters_ = {};
}

void Endpoint::negotiate(const SynOptions& ours, const SynOptions& theirs) {
  use_timestamps_ = ours.timestamps && theirs.timestamps;
  use_sack_ = ours.sack_permitted && theirs.sack_permitted;
  use_ecn_ = ours.ecn && theirs.ecn;
  use_scale_ = ours.has_window_scale && theirs.has_window_scale;
  snd_shift_ = scale_of(theirs, use_scale_) & 15U;
  rcv_shift_ = scale_of(ours, use_scale_) & 15U;
  mss_ = full_mss_ = payload_within(theirs.mss);
  small_path_ = config_->joins_payloads && mss_ < SendQueue::small;
}

/// What is left of an announced MSS beside the options of every segment (RFC 6691).
std::uint16_t Endpoint::payload_within(std::uint16_t mss) const {
  return static_cast<std::uint16_t>(std::max(mss, smallest_mss) - (use_timestamps_ ? timestamp_option : 0));
}

/// What our SYN offers, from where it is kept until the answer comes.
SynOptions Endpoint::offer() const {
  return {.mss = local_mss_,
          .window_scale = rcv_shift_,
          .has_window_scale = use_scale_,
          .sack_permitted = use_sack_,
          .timestamps = use_timestamps_,
          .ecn = use_ecn_};
}

void Endpoint::connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now) {
  reset_connection(config, iss);
  local_mss_ = ours.mss;
  negotiate(ours, ours);
  last_challenge_ = static_cast<std::uint16_t>(tick::rough(now) - challenge_spacing);
  state_ = State::syn_sent;
  syn_due_ = true;
}

void Endpoint::accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours,
                      Instant now) {
  reset_connection(config, iss);
  local_mss_ = ours.mss;
  last_challenge_ = static_cast<std::uint16_t>(tick::rough(now) - challenge_spacing);
  receive_syn(syn, ours, now);
  state_ = State::syn_received;
  syn_due_ = true;
}

void Endpoint::establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now) {
  reset_connection(config, state.snd_nxt - 1);
  local_mss_ = state.local.mss;
  negotiate(state.local, state.remote);
  last_challenge_ = static_cast<std::uint16_t>(tick::rough(now) - challenge_spacing);
  snd_nxt_ = snd_end_ = state.snd_nxt;
  if (state.snd_una_is_acked) snd_una_ = state.snd_nxt;
  snd_wnd_ = max_wnd_ = state.snd_window;
  rcv_nxt_ = last_ack_sent_ = state.rcv_nxt;
  snd_wl1_ = state.rcv_nxt - 1;
  rcv_edge_ = later(state.rcv_edge, state.rcv_nxt);
  room_ = static_cast<std::uint32_t>(rcv_edge_ - rcv_nxt_);
  ts_recent_ = newest_ts_ = state.ts_recent;
  ts_recent_at_ = tick::slow(now);
  if (state.rtt > Duration::zero()) rtt_.sample(state.rtt, snd_una_, snd_nxt_, config_->min_rto);
  state_ = State::established;
  start_sending(now);
  settle();
}

/// RFC 6928: IW = min(10 * MSS, max(2 * MSS, 14600)), for any number of segments.
std::uint32_t Endpoint::initial_window() const {
  const std::uint32_t count = config_->initial_window_segments;
  return std::min<std::uint32_t>(count * mss_, std::max<std::uint32_t>(2U * mss_, count * 1460));
}

void Endpoint::start_sending(Instant now) {
  const bool modelled = config_->congestion == CongestionAlgorithm::bbr;
  congestion_.start(modelled && !paced() ? CongestionAlgorithm::cubic : config_->congestion, initial_window());
  if (paced()) begin_pacing(now);
  last_sent_ = tick::fine(now);
}

/// The peer's half of the handshake: its initial sequence number and its options.
void Endpoint::receive_syn(const Segment& syn, const SynOptions& ours, Instant now) {
  negotiate(ours, syn.syn);
  rcv_nxt_ = last_ack_sent_ = syn.seq + 1;
  rcv_edge_ = rcv_nxt_ + std::min(room_, largest_window_field);
  snd_wl1_ = syn.seq;
  snd_wnd_ = max_wnd_ = syn.window;
  if (use_timestamps_) {
    ts_recent_ = newest_ts_ = syn.ts_value;
    ts_recent_at_ = tick::slow(now);
  }
}

// RFC 9293 section 3.10.7.3.
void Endpoint::receive_in_syn_sent(const Segment& segment, Instant now) {
  const bool answers = segment.flags.ack() && segment.ack == snd_nxt_ && snd_nxt_ != snd_una_;
  if (segment.flags.ack() && !answers) return;  // of an older connection
  if (segment.flags.rst()) {
    if (answers) close(CloseReason::refused);
    return;
  }
  if (!segment.flags.syn()) return;
  receive_syn(segment, offer(), now);
  if (answers) {
    establish(segment, now);
    ack_now_ = true;
  } else {  // simultaneous open
    state_ = State::syn_received;
    syn_due_ = true;
  }
}

/// Our SYN was acknowledged.
void Endpoint::establish(const Segment& segment, Instant now) {
  // Sent once, so the timer still stands where that one transmission put it.
  if (retries_ == 0) rtt_.sample(now - (timer_deadline_ - rto()), segment.ack, snd_nxt_, config_->min_rto);
  snd_una_ = segment.ack;
  backoff_ = 0;
  retries_ = 0;
  syn_due_ = false;
  arm(Timer::none, never);
  state_ = State::established;
  start_sending(now);
}

/// In SYN-RECEIVED, for an acceptable segment. Returns whether the connection is open now.
bool Endpoint::complete_handshake(const Segment& segment, Instant now) {
  if (!segment.flags.ack()) return false;
  if (segment.ack != snd_nxt_ || snd_nxt_ == snd_una_) return false;
  establish(segment, now);
  snd_wnd_ = std::uint32_t{segment.window} << snd_shift_;
  max_wnd_ = std::max(max_wnd_, snd_wnd_);
  snd_wl1_ = segment.seq;
  return true;
}

void Endpoint::emit_handshake(Instant now, Output& output) {
  if (!syn_due_) return;
  Segment segment;
  const bool answer = state_ == State::syn_received;
  segment.seq = snd_una_;
  segment.flags.bits = answer ? Flags::syn_bit | Flags::ack_bit : Flags::syn_bit;
  if (use_ecn_) segment.flags.bits |= answer ? int{Flags::ece_bit} : Flags::ece_bit | Flags::cwr_bit;
  segment.window = static_cast<std::uint16_t>(std::min(room_, largest_window_field));
  segment.syn = offer();
  segment.has_timestamps = use_timestamps_;
  segment.ts_value = ts_value_;
  if (answer) {
    segment.ack = rcv_nxt_;
    segment.ts_echo = ts_recent_;
  }
  if (output.transmit(segment, nullptr, now) == 0) return;
  if (snd_nxt_ != snd_una_) ++counters_.retransmitted;
  syn_due_ = false;
  ack_now_ = false;
  snd_nxt_ = snd_una_ + 1;
  arm_retransmit(now);
}

}  // namespace sluice::tcp

// The parts of a Sender that belong to no single mechanism: the numbers that the handshake sets, writing to the send
// queue, and the switch between congestion control and an allowance. Called by Handshake, by Endpoint and by the owner
// of a connection. write() gives every payload its sequence number, so the send queue is always contiguous.

#include "dataplane/tcp/sender.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {
namespace {

/// Marks the delivery-rate samples as application-limited, if data is written to an empty send queue while cwnd permits
/// another segment. The rate of the samples is then that of the writer. `full` is the largest number of bytes in flight
/// at which cwnd permits another segment.
[[gnu::cold, gnu::noinline]] void record_written(PacedSender* paced, const SendQueue& queue, std::uint32_t in_flight,
                                                 std::uint32_t full) {
  if (paced == nullptr || queue.unsent() || queue.to_retransmit() != 0 || in_flight > full) return;
  paced->delivery.limit_by_application(in_flight);
}

}  // namespace

void Sender::reset() {
  const WindowSource source = bits_.window_source;
  bits_ = Bits();
  bits_.window_source = source;
  snd_ = Sequence();
  loss_recovery_ = {};
  mtu_ = {};
  reordering_ = {};
  counters_ = {};
  congestion_ = {};
  small_in_flight_ = 0;
  misplaced_acks_ = 0;
}

void Sender::begin_sending(SeqNum iss) {
  snd_.una = snd_.nxt = loss_recovery_.point = iss;
  snd_.end = iss + 1;
  plan_boundary();
}

void Sender::continue_stream(SeqNum nxt, bool una_is_acked) {
  snd_.nxt = snd_.end = nxt;
  if (una_is_acked) snd_.una = nxt;
}

void Sender::set_window(SeqNum seq, std::uint32_t window) {
  snd_.wl1 = seq;
  snd_.wnd = window;
  snd_.max_wnd = std::max(snd_.max_wnd, window);
}

void Sender::set_segment_size(std::uint16_t peer_mss, std::uint16_t port_mss) {
  mtu_.port = beside_options(port_mss);
  mtu_.mss = mtu_.full_mss = std::min(payload_within(peer_mss), mtu_.port);
  bits_.small_path = joins_beyond_segments();
}

/// Returns the initial window of RFC 6928 in bytes: min(10 * MSS, max(2 * MSS, 14600)), scaled to the configured number
/// of segments.
std::uint32_t Sender::initial_window() const {
  const std::uint32_t count = config().initial_window_segments;
  return std::min<std::uint32_t>(count * mtu_.mss, std::max<std::uint32_t>(2U * mtu_.mss, count * 1460));
}

/// Starts congestion control and pacing when the connection is established.
void Sender::start_sending(Instant now) {
  congestion_.start(uses_model(config().congestion) && !paced() ? CongestionAlgorithm::cubic : config().congestion,
                    initial_window());
  if (paced()) begin_pacing(now);
  snd_.last_sent = tick::ms(now);
}

void Sender::syn_went_out(Instant now) {
  if (snd_.nxt != snd_.una) ++counters_.retransmitted;
  snd_.nxt = snd_.una + 1;
  arm_retransmit(now);
}

void Sender::syn_acknowledged(const Segment& segment, Instant now) {
  // If the SYN was sent once, the timer still has the value set by that transmission.
  if (loss_recovery_.retries == 0) sample_rtt(now - (timer_deadline() - rto()), segment.ack, snd_.nxt);
  snd_.una = segment.ack;
  end_backoff();
  loss_recovery_.retries = 0;
  arm(Timer::none, never);
}

void Sender::write(packet::Packet&& payload) {
  packet::PacketNote& note = payload.note();
  if (bits_.fin_requested || bits_.reset_due || state() == State::closed || note.payload_len == 0) return;
  if (config().joins_payloads && queue().join_back(payload, max_joined())) {
    snd_.end += note.payload_len;
    return;
  }
  note.header_len = static_cast<std::uint16_t>(payload.size() - note.payload_len);
  note.seq = snd_.end.raw();
  snd_.end += note.payload_len;
  if (!on_fast_path()) [[unlikely]]
    record_written(config().paced, queue(), pipe(), congestion_.cwnd() - mtu_.mss);
  queue().push(std::move(payload));
}

/// True if some payload in `more` fits into the buffer of the payload before it.
inline bool Sender::would_join(const packet::Queue& more) const {
  const std::uint32_t most = max_joined();
  std::uint32_t before = queue().unsent() ? queue().back().note().payload_len : most;
  for (packet::Cursor at = more.front(); at; at = at.next()) {
    const std::uint32_t length = at.note().payload_len;
    if (before + length <= most) return true;
    before = length;
  }
  return false;
}

/// Writes all of `payloads` and leaves it empty. `bytes` is the sum of their payload lengths. The packets are in stream
/// order, and note().seq of each one already contains its sequence number in this endpoint's outgoing stream.
void Sender::write_all(packet::Queue& payloads, std::uint32_t bytes) {
  if (config().joins_payloads && would_join(payloads)) [[unlikely]] {
    while (!payloads.empty()) write(payloads.pop_front());
    return;
  }
  snd_.end += bytes;
  queue().push_all(payloads);
}

void Sender::set_window_source(WindowSource source, Bytes seed_cwnd) {
  if (source == bits_.window_source) return;
  bits_.window_source = source;
  if (source == WindowSource::allowance) return;
  const auto least = std::int64_t{2} * mtu_.mss;
  congestion_.seed(static_cast<std::uint32_t>(std::clamp<std::int64_t>(seed_cwnd.count(), least, 1 << 30)));
  if (paced()) resume_pacing();
}

void Sender::clear_queue() {
  queue().clear();
  snd_.end = bits_.fin_sent ? snd_.end : later(snd_.nxt, snd_.una);
}

}  // namespace sluice::tcp

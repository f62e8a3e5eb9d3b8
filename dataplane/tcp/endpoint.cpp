// The parts of an Endpoint that belong to no single direction: writing to the send queue, moving data between the two
// endpoints of a relay, and the switch between congestion control and an allowance. Called by the owner of a
// connection: the relay of the proxy and the hosts of the emulator. write() gives every payload its sequence number, so
// the send queue is always contiguous.

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/tcp/fast_path.hpp"
#include "dataplane/tcp/paced_sender.hpp"

namespace sluice::tcp {
namespace {

/// Marks the delivery-rate samples as application-limited because data is written while the send queue was empty and
/// the window had space. The writer then determines the rate.
[[gnu::cold, gnu::noinline]] void record_written(PacedSender* paced, const SendQueue& queue, std::uint32_t in_flight,
                                                 std::uint32_t full) {
  if (paced == nullptr || queue.unsent() || queue.to_retransmit() != 0 || in_flight > full) return;
  paced->delivery.limit_by_application(in_flight);
}

}  // namespace

std::string_view to_string(State state) {
  static constexpr std::array names = {
#define X(name) std::string_view(#name),
      SLUICE_TCP_STATES(X)
#undef X
  };
  return names.at(static_cast<std::size_t>(state));
}

std::string_view to_string(CloseReason reason) {
  static constexpr std::array names = {
#define X(name) std::string_view(#name),
      SLUICE_TCP_CLOSE_REASONS(X)
#undef X
  };
  return names.at(static_cast<std::size_t>(reason));
}

void Endpoint::write(packet::Packet&& payload) {
  packet::PacketNote& note = payload.note();
  if (bits_.fin_wanted || bits_.reset_due || bits_.state == State::closed || note.payload_len == 0) return;
  if (config_->joins_payloads && send_.join_back(payload, max_joined())) {
    snd_.end += note.payload_len;
    return;
  }
  note.header_len = static_cast<std::uint16_t>(payload.size() - note.payload_len);
  note.seq = snd_.end.raw();
  snd_.end += note.payload_len;
  if (!bits_.on_fast_path) [[unlikely]]
    record_written(config_->paced, send_, pipe(), congestion_.cwnd() - mtu_.mss);
  send_.push(std::move(payload));
}

/// True if some payload in `more` fits into the buffer of the payload before it.
inline bool Endpoint::would_join(const packet::Queue& more) const {
  const std::uint32_t most = max_joined();
  std::uint32_t before = send_.unsent() ? send_.back().note().payload_len : most;
  for (packet::Cursor at = more.front(); at; at = at.next()) {
    const std::uint32_t length = at.note().payload_len;
    if (before + length <= most) return true;
    before = length;
  }
  return false;
}

void Endpoint::splice_from(Endpoint& from) {
  const std::uint32_t taken = std::exchange(from.rcv_.unread, 0);
  if (from.bits_.window_updates != WindowUpdates::sparing) [[unlikely]]
    from.consider_window_update();
  from.room_ -= std::min(from.room_, taken);
  if (config_->joins_payloads && would_join(from.in_order_)) [[unlikely]] {
    while (!from.in_order_.empty()) write(from.in_order_.pop_front());
    return;
  }
  snd_.end += taken;
  send_.push_all(from.in_order_);
}

void Endpoint::set_window_source(WindowSource source, Bytes seed_cwnd) {
  if (source == bits_.window_source) return;
  bits_.window_source = source;
  if (source == WindowSource::allowance) return;
  const auto least = std::int64_t{2} * mtu_.mss;
  congestion_.seed(static_cast<std::uint32_t>(std::clamp<std::int64_t>(seed_cwnd.count(), least, 1 << 30)));
  if (paced()) resume_pacing();
}

void Endpoint::release_queues() {
  send_.clear();
  in_order_.clear();
  drop_recovery_state();
  rcv_.unread = 0;
  snd_.end = bits_.fin_sent ? snd_.end : later(snd_.nxt, snd_.una);
}

}  // namespace sluice::tcp

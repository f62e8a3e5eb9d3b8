// Copies received and sent frames of a shard to its taps, with the decision about each. The shard's thread calls it
// through PacketObserver and ShardThread's transmitter. Invariant: no allocation per frame, because buffers are
// reserved at construction. A received frame is written once its decision counter has changed.
#include "proxy/ops/capture/shard_taps.hpp"

#include <algorithm>
#include <utility>

#include "proxy/engine/base/reset_note.hpp"

namespace sluice::capture {
namespace {

/// Maximum length in bytes of a frame in a packet buffer.
constexpr std::size_t longest_frame = 65535;
/// Maximum number of packets in the burst of a port (shards.burst). Memory for the decisions on a burst of forwarded
/// frames is reserved at construction.
constexpr std::size_t largest_burst = 256;

FrameHeader header_of(const Frame& frame, Decision decision) {
  return {frame.at.time_since_epoch().count(), static_cast<std::uint32_t>(frame.bytes.size()), 0,
          static_cast<std::uint8_t>(frame.wire.index()), decision};
}

}  // namespace

ShardTaps::ShardTaps(std::uint64_t generation, std::vector<std::shared_ptr<FrameSink>> taps)
    : generation_(generation), taps_(std::move(taps)) {
  if (!taps_.empty()) pending_frames_.reserve(largest_burst);
  if (!taps_.empty()) bytes_.reserve(longest_frame);
}

ShardTaps::Shares ShardTaps::shares_of(const Frame& frame) {
  Shares shares;
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    if (!taps_[i]->takes(frame)) continue;
    shares.at(i) = static_cast<std::uint16_t>(taps_[i]->shown_bytes(frame));
  }
  return shares;
}

void ShardTaps::put(const Shares& shares, const FrameHeader& header, std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    if (const auto share = shares.at(i)) taps_[i]->put(header, bytes.first(*share));
  }
}

void ShardTaps::received(const proxy::RxPacket& rx, const proxy::Counters& counters) {
  const Frame frame{{rx.in, false}, rx.now, rx.packet.bytes(), rx.result, rx.parsed};
  current_.emplace(Current{header_of(frame, sent_own), rx.packet.buffer(), shares_of(frame), &counters});
  const Shares& shares = current_->shares;
  const std::uint16_t most = std::max_element(shares.begin(), shares.end())->value_or(0);
  bytes_.assign(frame.bytes.begin(), frame.bytes.begin() + most);
  before_ = counters;
}

/// Writes the current frame to the taps (rings) of the captures that select it, if the frame's outcome was counted
/// already.
void ShardTaps::write_decided() {
  if (!current_) return;
  const std::optional<Decision> decision = decision_between(before_, *current_->counters);
  if (!decision) return;
  current_->header.decision = *decision;
  put(current_->shares, current_->header, bytes_);
  if (is_forwarded(*decision) && pending_frames_.size() < largest_burst)
    pending_frames_.push_back({current_->buffer, *decision});
  current_.reset();
}

void ShardTaps::on_done() {
  write_decided();
  current_.reset();
}

/// Returns the decision (outcome) of the received frame in `buffer`, or `sent_own` if no such frame was received.
/// Removes the frame from the list of frames that may still be sent, because the buffer may soon contain another frame.
Decision ShardTaps::take_decision(const rte_mbuf* buffer) {
  const auto at = std::find_if(pending_frames_.begin(), pending_frames_.end(),
                               [buffer](const PendingFrame& each) { return each.buffer == buffer; });
  if (at == pending_frames_.end()) return sent_own;
  const Decision decision = at->decision;
  *at = pending_frames_.back();
  pending_frames_.pop_back();
  return decision;
}

void ShardTaps::sent(proxy::Side out, std::span<const packet::Packet> burst, Instant now) {
  write_decided();
  for (const packet::Packet& packet : burst) {
    packet::Parsed parsed;
    const packet::ParseResult result = packet::parse(packet, parsed);
    const Frame frame{{out, true}, now, packet.bytes(), result, parsed};
    Decision decision = take_decision(packet.buffer());
    if (decision == sent_own && result == packet::ParseResult::tcp) {
      decision = sent_reset(proxy::reset_reason_of(packet, parsed));
    }
    put(shares_of(frame), header_of(frame, decision), frame.bytes);
  }
}

}  // namespace sluice::capture

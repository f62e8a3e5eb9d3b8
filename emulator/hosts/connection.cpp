// TCP connection of a built-in host: glue between tcp::Endpoint, the application and the wire. Host creates connections
// and calls serve() after every packet and timer. Invariant: if packet memory is exhausted nothing is lost; starved()
// makes the host retry.

#include "emulator/hosts/connection.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/queue.hpp"

namespace sluice::emulator {
namespace {

/// Number of bytes that are written to the endpoint beyond what it may send now, so that the next ACKs can release data
/// at once.
constexpr Bytes write_ahead{128 * 1024};

bool synchronised(tcp::State state) {
  return state != tcp::State::closed && state != tcp::State::syn_sent && state != tcp::State::syn_received;
}

}  // namespace

const tcp::EndpointConfig& Connection::endpoint_config(const tcp::EndpointConfig& common) {
  if (!common.wants_pacing() && !parts_.accurate_ecn) return common;
  config_ = common;
  if (common.wants_pacing()) {
    paced_ = std::make_unique<tcp::PacedEndpoint>();
    config_ = paced_->begin(common);
  }
  if (parts_.accurate_ecn) config_.accurate_ecn = &accurate_ecn_;
  return config_;
}

Bytes Connection::send_room() const {
  if (!synchronised(endpoint_.state())) return {};
  const Bytes held = endpoint_.unsent() + endpoint_.unacknowledged();
  return std::max(Bytes(0), std::min(parts_.send_buffer - held, write_ahead - endpoint_.unsent()));
}

std::uint32_t Connection::full_payload() const {
  const std::uint32_t headers = wire_size(0);
  return parts_.mtu > headers ? parts_.mtu - headers : 1;
}

/// Returns the payload size of the next packet: the smallest of `left` (the bytes to write), the peer's MSS, and what
/// this host's MTU and the buffer of `packet` permit. The MTU is needed because a peer may announce any MSS.
std::uint16_t Connection::segment_for(const packet::Packet& packet, std::uint64_t left) const {
  const std::uint32_t most =
      std::min({std::max(endpoint_.effective_mss(), 1U), full_payload(), std::uint32_t{packet.tailroom()}});
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(most, left));
}

void Connection::send(std::span<const std::uint8_t> bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  write_waiting();
}

void Connection::write_waiting() {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    packet::Packet packet = pool_.allocate();
    if (!packet) {
      starved_ = true;
      break;
    }
    const std::uint16_t count = segment_for(packet, waiting_.size() - done);
    std::memcpy(packet.append(count), waiting_.data() + done, count);
    write(std::move(packet));
    done += count;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  if (waiting_.empty() && std::exchange(finish_wanted_, false)) endpoint_.finish();
}

void Connection::finish() {
  finish_wanted_ = true;
  write_waiting();
}

std::uint64_t Connection::send_pattern(const PayloadPattern& pattern, std::uint64_t position, std::uint64_t count) {
  std::uint64_t done = 0;
  while (done < count && waiting_.empty()) {
    packet::Packet packet = pool_.allocate();
    if (!packet) {
      starved_ = true;
      break;
    }
    const std::uint16_t size = segment_for(packet, count - done);
    pattern.fill(position + done, {packet.append(size), size});
    write(std::move(packet));
    done += size;
  }
  return done;
}

void Connection::write(packet::Packet packet) {
  packet::PacketNote& note = packet.note();
  note.payload_len = packet.size();
  note.payload_sum = packet::ones_complement_sum(packet.bytes());
  endpoint_.write(std::move(packet));
}

bool Connection::serve(Instant now) {
  starved_ = false;
  const auto ticks = static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::milliseconds(1));
  endpoint_.set_timestamp(ticks + parts_.clock_offset);
  write_waiting();
  notify_application(now);
  if (acks_.on_received(endpoint_.next_acknowledgement(), full_payload(), now)) endpoint_.send_ack_now();
  endpoint_.emit(now, *this);
  if (const auto held = acks_.take(ticks + parts_.clock_offset)) put(*held, nullptr, now);
  if (endpoint_.state() != tcp::State::closed) return true;
  application_->on_closed(*this, now);
  return false;
}

void Connection::notify_application(Instant now) {
  if (!open_ && synchronised(endpoint_.state())) {
    open_ = true;
    application_->on_open(*this, now);
  }
  deliver(now);
  if (!open_) return;
  if (!peer_finished_ && endpoint_.peer_finished()) {
    peer_finished_ = true;
    application_->on_peer_finished(*this, now);
  }
  if (send_room() > Bytes(0)) application_->on_room(*this, now);
}

void Connection::deliver(Instant now) {
  for (packet::Packet packet = endpoint_.read(); packet; packet = endpoint_.read()) {
    const std::size_t length = packet.note().payload_len;
    application_->on_data(*this, packet.bytes().last(length), now);
  }
}

std::uint32_t Connection::transmit(const tcp::Segment& segment, packet::Packet* payload, Instant now) {
  if (!acks_.stretches()) return put(segment, payload, now);
  tcp::Segment leaving = segment;
  return acks_.holds(leaving) ? wire_size(0) : put(leaving, payload, now);
}

std::uint32_t Connection::put(const tcp::Segment& segment, packet::Packet* payload, Instant now) {
  packet::Packet frame = pool_.allocate();
  if (!frame) {
    starved_ = true;
    return 0;
  }
  std::uint16_t sum = 0;
  if (payload != nullptr) {
    // The device copies the bytes, because the buffer stays in the send queue for retransmissions.
    const std::span<const std::uint8_t> bytes = payload->bytes().last(segment.payload_len);
    std::memcpy(frame.append(segment.payload_len), bytes.data(), bytes.size());
    sum = payload->note().payload_sum;
    // Prefetches the next packet, which was written long ago and is likely to be sent next.
    if (const packet::Cursor next = packet::Cursor(payload->buffer()).next()) {
      packet::BorrowedPacket(next)->prefetch(segment.payload_len);
    }
  }
  packet::write_headers(frame, parts_.headers, parts_.addresses, segment, sum, ip_id_++);
  const auto size = packet::ip_size(parts_.headers, frame);
  wire_.receive(std::move(frame), now);
  return size;
}

std::uint32_t Connection::wire_size(std::uint32_t payload_len) const {
  return packet::data_header_in_ip(parts_.headers, endpoint_.uses_timestamps()) + payload_len;
}

}  // namespace sluice::emulator

// Framed streams between a built-in client and server on one connection: endless data frames with probes between them.
// ResponsivenessClient reads them; BuiltInServers creates a FramedServer per connection to port 443. Input that is no
// valid frame head aborts the connection.
// Frames follow the pattern of HTTP/2 (RFC 9113).

#include "emulator/hosts/framed_stream.hpp"

#include <algorithm>

namespace sluice::emulator {
namespace {

constexpr std::array<std::uint8_t, 4> frame_magic = {'S', 'L', 'F', '1'};

}  // namespace

std::array<std::uint8_t, FrameHead::length> FrameHead::encode() const {
  std::array<std::uint8_t, length> bytes{};
  std::copy(frame_magic.begin(), frame_magic.end(), bytes.begin());
  bytes[4] = static_cast<std::uint8_t>(kind);
  for (unsigned i = 0; i < 8; ++i) bytes[8 + i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
  return bytes;
}

std::optional<FrameHead> FrameHead::decode(std::span<const std::uint8_t, length> bytes) {
  if (!std::equal(frame_magic.begin(), frame_magic.end(), bytes.begin())) return std::nullopt;
  if (bytes[4] < static_cast<std::uint8_t>(Kind::stream) || bytes[4] > static_cast<std::uint8_t>(Kind::data)) {
    return std::nullopt;
  }
  FrameHead head{static_cast<Kind>(bytes[4]), 0};
  for (unsigned i = 0; i < 8; ++i) head.value = head.value << 8 | bytes[8 + i];
  return head;
}

FrameReader::Piece FrameReader::next(std::span<const std::uint8_t>& bytes) {
  Piece piece;
  if (data_left_ > 0) {
    piece.data = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(data_left_, bytes.size())));
    data_left_ -= piece.data.size();
    bytes = bytes.subspan(piece.data.size());
    return piece;
  }
  const std::size_t count = std::min(bytes.size(), head_.size() - head_size_);
  std::copy_n(bytes.begin(), count, head_.begin() + static_cast<std::ptrdiff_t>(head_size_));
  bytes = bytes.subspan(count);
  head_size_ += count;
  if (head_size_ < head_.size()) return piece;
  head_size_ = 0;
  piece.head = FrameHead::decode(head_);
  piece.damaged = !piece.head;
  if (piece.head && piece.head->kind == FrameHead::Kind::data) data_left_ = piece.head->value;
  return piece;
}

void FramedServer::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant /*now*/) {
  while (!bytes.empty()) {
    const FrameReader::Piece piece = reader_.next(bytes);
    const bool asks = piece.head && piece.head->kind != FrameHead::Kind::data && probes_.size() < max_waiting;
    if (piece.damaged || (piece.head && !asks)) {
      ++counters_.refused;
      return connection.abort();
    }
    if (!piece.head) continue;
    ++counters_.requests;
    if (piece.head->kind == FrameHead::Kind::stream) {
      streams_ = true;
    } else {
      probes_.push_back(piece.head->value);
    }
  }
}

void FramedServer::on_room(Connection& connection, Instant /*now*/) {
  while (true) {
    if (frame_left_ == 0) {
      for (; !probes_.empty(); probes_.pop_front()) {
        connection.send(FrameHead{FrameHead::Kind::probe, probes_.front()}.encode());
      }
      if (!streams_ || connection.endpoint().unsent() >= Bytes(frame_size)) return;
      connection.send(FrameHead{FrameHead::Kind::data, frame_size}.encode());
      frame_left_ = frame_size;
    }
    const auto room = static_cast<std::uint64_t>(connection.send_room().count());
    const std::uint64_t done = connection.send_pattern(pattern_, sent_, std::min(room, frame_left_));
    sent_ += done;
    counters_.sent += done;
    frame_left_ -= done;
    if (done == 0) return;
  }
}

void FramedServer::on_peer_finished(Connection& connection, Instant /*now*/) {
  streams_ = false;
  connection.finish();
}

void FramedServer::on_run_end(Connection& connection, Instant /*now*/) {
  counters_.record_end(connection);
}

}  // namespace sluice::emulator

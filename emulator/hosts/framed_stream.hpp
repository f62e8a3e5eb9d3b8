#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/payload_pattern.hpp"

namespace sluice::emulator {

/// Header of 16 bytes before each frame of a framed stream. A client's request consists of such a header only. Frames
/// permit several requests and answers at a time on one connection, as in HTTP/2.
struct FrameHead {
  enum class Kind : std::uint8_t {
    stream = 1,  ///< frame by which a client requests data frames without end
    probe = 2,   ///< frame by which a client requests an echo, and the server's echo
    data = 3     ///< frame of the server that is followed by bytes of the pattern; FrameHead::value is their number
  };
  static constexpr std::size_t length = 16;

  Kind kind = Kind::stream;
  std::uint64_t value = 0;  ///< number of a probe, or number of payload bytes of a data frame

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Returns the header, or nothing if the bytes are no valid header.
  [[nodiscard]] static std::optional<FrameHead> decode(std::span<const std::uint8_t, length> bytes);
};

/// Parses a framed stream that arrives in pieces of any size.
class FrameReader {
 public:
  /// Result of one parsing step: a complete header, data of a frame, or nothing yet.
  struct Piece {
    std::optional<FrameHead> head;
    std::span<const std::uint8_t> data;  ///< part of a data frame's payload
    bool damaged = false;                ///< true if a header is invalid
  };
  /// Parses the next piece and removes it from the front of `bytes`.
  [[nodiscard]] Piece next(std::span<const std::uint8_t>& bytes);

 private:
  std::array<std::uint8_t, FrameHead::length> head_{};
  std::size_t head_size_ = 0;
  std::uint64_t data_left_ = 0;
};

/// Server end of a framed stream. A probe is answered between two data frames, as an HTTP/2 server answers a small
/// request next to a large one. A data frame is only written while less than one frame of earlier bytes is unsent
/// (TCP_NOTSENT_LOWAT).
class FramedServer final : public Application {
 public:
  /// Data bytes of a frame: the default SETTINGS_MAX_FRAME_SIZE of HTTP/2 (RFC 9113 section 4.2).
  static constexpr std::uint64_t frame_size = 16'384;

  /// Makes the application of one connection. `counters` must outlive it.
  FramedServer(const packet::Addresses& ours, ServerCounters& counters)
      : pattern_(server_pattern(ours.src_port, ours.dst_port)), counters_(counters) {
    ++counters_.sessions;
  }

  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_room(Connection& connection, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override { on_run_end(connection, now); }
  void on_run_end(Connection& connection, Instant now) override;

 private:
  static constexpr std::size_t max_waiting = 1024;

  FrameReader reader_;
  PayloadPattern pattern_;
  ServerCounters& counters_;
  std::deque<std::uint64_t> probes_;  ///< probes not answered yet
  std::uint64_t frame_left_ = 0;
  std::uint64_t sent_ = 0;
  bool streams_ = false;
};

}  // namespace sluice::emulator

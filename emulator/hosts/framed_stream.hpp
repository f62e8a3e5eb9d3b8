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

/// What stands before each piece of a framed stream, and what a client asks with; 16 bytes. Several exchanges share a
/// connection this way, as in HTTP/2.
struct FrameHead {
  enum class Kind : std::uint8_t {
    stream = 1,  ///< client: send me frames of data without end
    probe = 2,   ///< client: send this back; server: here it is
    data = 3     ///< server: `value` bytes of the pattern follow
  };
  static constexpr std::size_t length = 16;

  Kind kind = Kind::stream;
  std::uint64_t value = 0;  ///< probe: its number; data: bytes

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Nothing when the bytes are not a head.
  [[nodiscard]] static std::optional<FrameHead> decode(std::span<const std::uint8_t, length> bytes);
};

/// Takes a framed stream apart.
class FrameReader {
 public:
  /// The next thing in `bytes`, which loses what was read: a head, data, or part of a head.
  struct Piece {
    std::optional<FrameHead> head;
    std::span<const std::uint8_t> data;  ///< of a data frame
    bool damaged = false;                ///< a head that is none
  };
  [[nodiscard]] Piece next(std::span<const std::uint8_t>& bytes);

 private:
  std::array<std::uint8_t, FrameHead::length> head_{};
  std::size_t head_size_ = 0;
  std::uint64_t data_left_ = 0;
};

/// One connection of the server of framed streams. A probe is answered between two frames of data, as an HTTP/2 server
/// answers a small request beside a large one. It writes no further frame while as much as one waits to be sent
/// (TCP_NOTSENT_LOWAT).
class FramedServer final : public Application {
 public:
  /// Bytes of data in a frame; what HTTP/2 has unless it is told otherwise (RFC 9113 section 4.2).
  static constexpr std::uint64_t frame_size = 16'384;

  /// `counters` outlives it.
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
  std::deque<std::uint64_t> probes_;  ///< not yet answered
  std::uint64_t frame_left_ = 0;
  std::uint64_t sent_ = 0;
  bool streams_ = false;
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "emulator/hosts/application.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/playback.hpp"

namespace sluice::emulator {

struct VideoConfig {
  IpAddress server;
  std::uint16_t port = 80;
  Instant start{};
  std::vector<Rate> ladder;                      ///< bit rates on offer, rising; at least one
  Duration segment = std::chrono::seconds(4);    ///< playing time of a segment, > 0
  Duration buffer = std::chrono::seconds(60);    ///< playing time that the player holds at most, >= 10 segments
  Duration reservoir = std::chrono::seconds(8);  ///< below it the lowest rate; < 0.9 of the buffer
  std::uint32_t segments = 0;                    ///< of a video; 0 = without end
  Duration pause = std::chrono::seconds(1);      ///< between two videos
};

/// The bit rate of the next segment by what the player holds: BBA-0 (Huang et al., A Buffer-Based Approach to Rate
/// Adaptation, SIGCOMM 2014, algorithm 1). The lowest rate up to the reservoir, the highest from 0.9 of the buffer on,
/// a line between; the rate changes only when that line passes the next one of the ladder.
[[nodiscard]] std::size_t next_rung(const VideoConfig& video, std::size_t rung, Duration held);

/// Somebody who watches videos, one after the other: each on a connection of its own, which is kept, segment after
/// segment. A video begins to play with its first segment.
class VideoClient final : public Application, public EventTarget {
 public:
  /// `loop`, `host` and `log` outlive it.
  VideoClient(EventLoop& loop, Host& host, VideoConfig config, FlowLog& log);

  void on_event(std::uint64_t tag, Instant now) override;
  void on_open(Connection& connection, Instant now) override;
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override;
  void on_run_end(Connection& connection, Instant now) override;

 private:
  static constexpr std::uint64_t begin_tag = 0;
  static constexpr std::uint64_t ask_tag = 1;

  void begin(Instant now);
  void ask(Instant now);
  void segment_complete(Connection& connection, Instant now);
  void end_video(Connection& connection, Instant now);
  void write_down(const Connection& connection, Instant now);

  EventLoop& loop_;
  Host& host_;
  VideoConfig config_;
  FlowLog& log_;
  FlowRecord record_;
  std::uint64_t current_ = 0;         ///< connection of the video that comes; 0 between two
  Connection* connection_ = nullptr;  ///< the same, once it is open
  Playback playback_;
  std::size_t rung_ = 0;
  std::uint32_t segments_ = 0;  ///< of this video, complete
  std::uint64_t left_ = 0;      ///< bytes of the segment that was asked for
};

}  // namespace sluice::emulator

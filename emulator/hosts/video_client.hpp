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
  std::vector<Rate> ladder;                    ///< available bit rates, ascending; at least one
  Duration segment = std::chrono::seconds(4);  ///< playing time of a segment, > 0
  Duration buffer = std::chrono::seconds(60);  ///< largest buffered playing time, >= 10 segments

  /// Buffered playing time up to which the lowest rate is chosen; less than 0.9 of the largest buffered playing time.
  Duration reservoir = std::chrono::seconds(8);
  std::uint32_t segments = 0;                ///< segments per video; 0 = endless
  Duration pause = std::chrono::seconds(1);  ///< time between two videos
};

/// Returns the ladder index of the next segment's bit rate by BBA-0. `rung` is the ladder index of the present bit
/// rate, and `held` the buffered playing time. The suggested rate is the lowest up to VideoConfig::reservoir, the
/// highest from 0.9 of VideoConfig::buffer on, and linear between. The bit rate only changes when the suggested rate
/// reaches another rate of the ladder. Source: Huang et al., A Buffer-Based Approach to Rate Adaptation, SIGCOMM 2014,
/// algorithm 1.
[[nodiscard]] std::size_t next_rung(const VideoConfig& video, std::size_t rung, Duration held);

/// Model of a viewer that plays videos, one after the other. Each video uses one connection for all segments. Playing
/// begins with the first segment.
class VideoClient final : public Application, public EventTarget {
 public:
  /// Creates a viewer that plays videos from `config.start` on. `loop`, `host` and `log` must outlive it.
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
  std::uint64_t current_ = 0;         ///< number of the current video's connection; 0 between two videos
  Connection* connection_ = nullptr;  ///< current video's connection once it is open
  Playback playback_;
  std::size_t rung_ = 0;
  std::uint32_t segments_ = 0;  ///< number of complete segments of this video
  std::uint64_t left_ = 0;      ///< bytes still missing of the requested segment
};

}  // namespace sluice::emulator

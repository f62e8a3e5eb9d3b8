// Viewer of a built-in UE: fetches videos segment by segment and adapts the bit rate to its buffer (BBA-0). BuiltInUes
// creates one client per application of this type. Invariant: one video at a time, on one connection; stalls are
// recorded from the start of the measurement on.

#include "emulator/hosts/video_client.hpp"

#include <algorithm>
#include <utility>

#include "emulator/hosts/request.hpp"

namespace sluice::emulator {
namespace {

constexpr double highest_from = 0.9;  // share of the buffer

}  // namespace

std::size_t next_rung(const VideoConfig& video, std::size_t rung, Duration held) {
  const std::vector<Rate>& ladder = video.ladder;
  const double cushion = highest_from * to_seconds(video.buffer) - to_seconds(video.reservoir);
  const double part = (to_seconds(held) - to_seconds(video.reservoir)) / cushion;
  if (part <= 0) return 0;
  if (part >= 1) return ladder.size() - 1;
  const double line = ladder.front().bps() + part * (ladder.back().bps() - ladder.front().bps());
  while (rung + 1 < ladder.size() && ladder[rung + 1].bps() < line) ++rung;
  while (rung > 0 && ladder[rung - 1].bps() > line) --rung;
  return rung;
}

VideoClient::VideoClient(EventLoop& loop, Host& host, VideoConfig config, FlowLog& log)
    : loop_(loop), host_(host), config_(std::move(config)), log_(log) {
  loop_.at(config_.start, *this, begin_tag);
}

void VideoClient::on_event(std::uint64_t tag, Instant now) {
  if (tag == begin_tag) return begin(now);
  if (connection_ == nullptr) return;  // the connection ended meanwhile
  ask(now);
  host_.push(connection_->number(), now);
}

void VideoClient::begin(Instant now) {
  playback_ = {};
  rung_ = 0;
  segments_ = 0;
  record_ = {};
  record_.application = "video";
  record_.opened = now;
  const Connection& connection = host_.connect(config_.server, config_.port, *this, now);
  current_ = connection.number();
  record_.set_ends(connection.addresses());
}

void VideoClient::on_open(Connection& connection, Instant now) {
  connection_ = &connection;
  record_.connected = now;
  ask(now);
}

void VideoClient::ask(Instant now) {
  const std::size_t rung = next_rung(config_, rung_, playback_.held(now));
  if (rung != rung_ && now >= log_.count_from) ++log_.video.switches;
  rung_ = rung;
  left_ = static_cast<std::uint64_t>(config_.ladder[rung_].in(config_.segment).count());
  connection_->send(Request{Request::Verb::fetch, left_}.encode());
}

void VideoClient::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) {
  const packet::Addresses& addresses = connection.addresses();
  if (!server_pattern(addresses.dst_port, addresses.src_port).matches(record_.bytes, bytes)) {
    ++record_.corrupted;
    ++log_.corrupted;
  }
  record_.bytes += bytes.size();
  left_ -= std::min<std::uint64_t>(left_, bytes.size());
  if (left_ == 0 && connection.number() == current_) segment_complete(connection, now);
}

void VideoClient::segment_complete(Connection& connection, Instant now) {
  const Duration waited = playback_.add(config_.segment, now);
  VideoLog& video = log_.video;
  if (record_.opened >= log_.count_from && segments_ == 0) video.starts.add(now - record_.opened);
  if (now >= log_.count_from) {
    if (waited > Duration::zero()) ++video.stalls;
    video.stalled += waited;
    ++video.segments;
    video.bit_rates_bps += config_.ladder[rung_].bps();
  }
  if (++segments_ == config_.segments) {
    end_video(connection, now);
    return connection.finish();
  }
  // The next request is sent once the buffer has space for another segment.
  const Duration over = playback_.held(now) + config_.segment - config_.buffer;
  if (over <= Duration::zero()) return ask(now);
  loop_.at(now + over, *this, ask_tag);
}

void VideoClient::end_video(Connection& connection, Instant now) {
  write_down(connection, now);
  current_ = 0;
  connection_ = nullptr;
  loop_.at(now + playback_.held(now) + config_.pause, *this, begin_tag);
}

void VideoClient::write_down(const Connection& connection, Instant now) {
  record_.finished = now;
  record_.take_counters(connection.endpoint());
  log_.flows.push_back(record_);
}

void VideoClient::on_peer_finished(Connection& connection, Instant /*now*/) {
  connection.finish();
}

void VideoClient::on_closed(Connection& connection, Instant now) {
  if (connection.number() != current_) return;  // connection of a video that was complete
  ++log_.failures;
  end_video(connection, now);
}

void VideoClient::on_run_end(Connection& connection, Instant now) {
  if (connection.number() != current_) return;
  write_down(connection, now);
  const Duration standing = playback_.standing(now);
  if (standing > Duration::zero()) ++log_.video.stalls;
  log_.video.stalled += standing;
}

}  // namespace sluice::emulator

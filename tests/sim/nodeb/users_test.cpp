// What users do: watch, play, and measure how responsive it all is.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/game.hpp"
#include "emulator/hosts/playback.hpp"
#include "emulator/hosts/responsiveness_client.hpp"
#include "emulator/hosts/video_client.hpp"
#include "tests/sim/nodeb/two_hosts.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

Rate megabits(double rate) {
  return Rate::bits_per_second(rate * 1e6);
}

TEST(Playback, FillsBySegmentsAndDrainsInRealTime) {
  Playback playback;
  EXPECT_EQ(playback.held(Instant(9s)), 0s);
  EXPECT_EQ(playback.standing(Instant(9s)), 0s) << "it has not begun";
  EXPECT_EQ(playback.add(4s, Instant(10s)), 0s);
  EXPECT_EQ(playback.held(Instant(11s)), 3s);
  EXPECT_EQ(playback.add(4s, Instant(12s)), 0s);
  EXPECT_EQ(playback.held(Instant(12s)), 6s);
  EXPECT_EQ(playback.standing(Instant(20s)), 2s);
  EXPECT_EQ(playback.add(4s, Instant(21s)), 3s) << "empty since 18 s";
  EXPECT_EQ(playback.held(Instant(21s)), 4s);
}

// Algorithm 1 of the paper: ladder 1, 2, 4, 8 Mb/s, the line from 1 Mb/s at 10 s to 8 Mb/s at 45 s.
TEST(Video, ChoosesItsRateByItsBuffer) {
  VideoConfig video;
  video.ladder = {megabits(1), megabits(2), megabits(4), megabits(8)};
  video.buffer = 50s;
  video.reservoir = 10s;
  EXPECT_EQ(next_rung(video, 3, 10s), 0U) << "in the reservoir";
  EXPECT_EQ(next_rung(video, 0, 45s), 3U) << "full";
  EXPECT_EQ(next_rung(video, 0, 14s), 0U) << "the line is at 1.8 Mb/s";
  EXPECT_EQ(next_rung(video, 0, 16s), 1U) << "2.2 Mb/s";
  EXPECT_EQ(next_rung(video, 0, 31s), 2U) << "5.2 Mb/s";
  EXPECT_EQ(next_rung(video, 2, 22s), 2U) << "3.4 Mb/s: above the next one below";
  EXPECT_EQ(next_rung(video, 2, 14s), 1U) << "1.8 Mb/s: below it";
}

class UsersTest : public test::TwoHosts {
 protected:
  VideoConfig video() const {
    VideoConfig video;
    video.server = server_.config().address;
    video.ladder = {megabits(1), megabits(2), megabits(4)};
    return video;
  }
  ResponsivenessConfig probes(bool loaded) const {
    ResponsivenessConfig config;
    config.server = server_.config().address;
    config.loaded = loaded;
    return config;
  }
  /// The middle one, ms.
  static double median(std::vector<Duration> times) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : to_milliseconds(times[times.size() / 2]);
  }
};

TEST_F(UsersTest, AVideoRaisesItsRateAndBoundsItsBuffer) {
  VideoClient client(loop_, client_, video(), log_);
  run(100s);
  EXPECT_EQ(log_.video.starts.count(), 1U);
  // Handshake, and 500 kB at 20 Mb/s with some round trips of slow start.
  EXPECT_GT(to_milliseconds(log_.video.starts.mean()), 20 + 200);
  EXPECT_LT(to_milliseconds(log_.video.starts.mean()), 20 + 200 + 150);
  EXPECT_EQ(log_.video.stalls, 0U);
  EXPECT_GE(log_.video.switches, 1U);
  EXPECT_GT(log_.video.bit_rates_bps / static_cast<double>(log_.video.segments), 2.5e6);
  EXPECT_LE(log_.video.segments, (100U + 60) / 4);
  EXPECT_GE(log_.video.segments, (100U + 60) / 4 - 2) << "and it keeps it full";
  ASSERT_EQ(log_.flows.size(), 1U) << "one connection is kept";
  EXPECT_EQ(log_.flows[0].application, "video");
}

TEST_F(UsersTest, AVideoAboveTheLinkRateStalls) {
  VideoConfig config = video();
  config.ladder = {megabits(40)};
  VideoClient client(loop_, client_, config, log_);
  run(60s);
  // Each 4 s take at least 8: every segment but the first comes too late.
  EXPECT_GE(log_.video.segments, 5U);
  EXPECT_GE(log_.video.stalls, log_.video.segments - 1);
  EXPECT_LE(log_.video.stalls, log_.video.segments);
  // What is not played is waited for; of the last segment some may be left.
  const double waited = 60 - to_seconds(log_.video.starts.mean()) - 4.0 * static_cast<double>(log_.video.segments);
  EXPECT_GE(to_seconds(log_.video.stalled), waited - 1e-6);
  EXPECT_LE(to_seconds(log_.video.stalled), waited + 4);
}

TEST_F(UsersTest, TheNextVideoStartsAfterPlayback) {
  VideoConfig config = video();
  config.segments = 2;
  config.pause = 1s;
  VideoClient client(loop_, client_, config, log_);
  run(60s);
  // 8 s to play, a second of pause, and the time of the first segment.
  EXPECT_EQ(log_.video.starts.count(), 7U);
  EXPECT_EQ(log_.flows.size(), 7U);
  EXPECT_EQ(log_.video.stalls, 0U);
  EXPECT_LE(client_.connections(), 1U);
}

TEST_F(UsersTest, ARefusedVideoIsRequestedAgain) {
  VideoConfig config = video();
  config.port = 81;
  config.pause = 2s;
  VideoClient client(loop_, client_, config, log_);
  loop_.run_until(Instant(9s));
  EXPECT_EQ(log_.failures, 5U) << "at 0, 2, 4, 6 and 8 s";
  EXPECT_EQ(log_.video.starts.count(), 0U);
}

TEST_F(UsersTest, ProbesOfAnIdleLinkTakeOneRtt) {
  ResponsivenessClient client(loop_, client_, probes(false), Random(1), log_);
  run(10s);
  EXPECT_NEAR(static_cast<double>(log_.responsiveness.kept.size()), 100, 2);
  EXPECT_NEAR(static_cast<double>(log_.responsiveness.answers.size()), 100, 2);
  EXPECT_EQ(log_.responsiveness.handshakes.size(), log_.responsiveness.answers.size());
  EXPECT_NEAR(median(log_.responsiveness.kept), 20, 0.5);
  EXPECT_NEAR(median(log_.responsiveness.handshakes), 20, 0.5);
  EXPECT_NEAR(median(log_.responsiveness.answers), 20, 0.5);
  EXPECT_LT(client_.connections(), 50U) << "fresh ones go when they have been answered for a while";
}

TEST_F(UsersTest, ProbesOfALoadedLinkWaitInItsQueue) {
  ResponsivenessClient client(loop_, client_, probes(true), Random(1), log_);
  run(10s);
  EXPECT_NEAR(static_cast<double>(log_.responsiveness.kept.size()), 100, 5);
  EXPECT_NEAR(static_cast<double>(log_.responsiveness.answers.size()), 100, 5);
  // The queue holds up to 80 ms. A kept connection also waits for the frames before it.
  EXPECT_GT(median(log_.responsiveness.handshakes), 25);
  EXPECT_LT(median(log_.responsiveness.handshakes), 105);
  EXPECT_GT(median(log_.responsiveness.kept), median(log_.responsiveness.handshakes));
  EXPECT_LT(median(log_.responsiveness.kept), 250) << "and not for the end of the download";
  ASSERT_FALSE(log_.flows.empty());
  const auto kept = std::find_if(log_.flows.begin(), log_.flows.end(),
                                 [](const FlowRecord& flow) { return flow.application == "responsiveness"; });
  ASSERT_NE(kept, log_.flows.end());
  EXPECT_GT(kept->bytes, 20e6 / 8 * 10 * 0.8) << "which fills the link";
}

TEST_F(UsersTest, AnInvalidStreamIsRefused) {
  BulkClient client(loop_, client_, {server_.config().address, 443, false, 1000, Instant{}}, log_);
  loop_.run_until(Instant(5s));
  EXPECT_EQ(counters_.refused, 1U);
  EXPECT_FALSE(client.complete());
  EXPECT_EQ(server_.connections(), 0U);
}

TEST(FrameReader, ReadsHeadersThatArriveInPieces) {
  std::vector<std::uint8_t> stream;
  const auto add = [&stream](const FrameHead& head) {
    const auto bytes = head.encode();
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  };
  add({FrameHead::Kind::probe, 7});
  add({FrameHead::Kind::data, 3});
  stream.insert(stream.end(), {1, 2, 3});
  add({FrameHead::Kind::probe, UINT64_MAX});
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    SCOPED_TRACE(size);
    FrameReader reader;
    std::vector<std::uint64_t> probes;
    std::vector<std::uint8_t> data;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      std::span<const std::uint8_t> bytes = std::span(stream).subspan(at, std::min(size, stream.size() - at));
      while (!bytes.empty()) {
        const FrameReader::Piece piece = reader.next(bytes);
        EXPECT_FALSE(piece.damaged);
        data.insert(data.end(), piece.data.begin(), piece.data.end());
        if (piece.head && piece.head->kind == FrameHead::Kind::probe) probes.push_back(piece.head->value);
      }
    }
    EXPECT_EQ(probes, (std::vector<std::uint64_t>{7, UINT64_MAX}));
    EXPECT_EQ(data, (std::vector<std::uint8_t>{1, 2, 3}));
  }
}

TEST_F(UsersTest, AGameSendsAtFixedIntervalsInBothDirections) {
  DatagramLog up;
  log_.count_from = Instant(1s);
  GameServer server(loop_, server_, up, log_.count_from);
  server_.bind(3074, server);
  GameConfig config;
  config.server = server_.config().address;
  GameClient client(loop_, client_, config, log_);
  run(11s);
  EXPECT_NEAR(static_cast<double>(log_.game.received), 500, 2) << "of the first second none";
  EXPECT_NEAR(static_cast<double>(up.received), 500, 2);
  EXPECT_EQ(log_.game.lost + up.lost, 0U);
  EXPECT_NEAR(to_milliseconds(up.delays.percentile(0.99)), 10, 0.1);
  EXPECT_NEAR(to_milliseconds(log_.game.delays.percentile(0.99)), 10.1, 0.1) << "242 bytes at 20 Mb/s";
}

TEST_F(UsersTest, AServerStopsSendingToSilentPlayers) {
  DatagramLog up;
  GameServer server(loop_, server_, up, Instant{});
  server_.bind(3074, server);
  const packet::Addresses ours{client_.config().address, server_.config().address, 5000, 3074};
  client_.send_datagram(ours, GameHead{20'000, 200, 0, Instant{}}.encode(), Instant{});
  loop_.run_until(Instant(GameServer::player_timeout + 1s));
  const std::uint64_t sent = client_.counters().received;
  EXPECT_NEAR(static_cast<double>(sent), to_seconds(GameServer::player_timeout) * 50, 2);
  loop_.run_until(Instant(GameServer::player_timeout + 10s));
  EXPECT_EQ(client_.counters().received, sent);
}

TEST_F(UsersTest, DatagramsOfNoGameAreIgnored) {
  DatagramLog up;
  GameServer server(loop_, server_, up, Instant{});
  server_.bind(3074, server);
  const packet::Addresses ours{client_.config().address, server_.config().address, 5000, 3074};
  const std::vector<std::uint8_t> noise(GameHead::length, 0x55);
  for (std::size_t size = 0; size <= noise.size(); ++size) {
    client_.send_datagram(ours, std::span(noise).first(size), Instant{});
  }
  client_.send_datagram({ours.src, ours.dst, 5000, 3075}, noise, Instant{});
  loop_.run_until(Instant(1s));
  EXPECT_EQ(up.received, 0U);
  EXPECT_EQ(client_.counters().received, 0U) << "nothing is answered";
  EXPECT_EQ(server_.counters().not_tcp, 1U) << "that to a port that nobody has bound";
}

TEST(GameReceiver, CountsGapsUntilTheyAreFilled) {
  DatagramLog log;
  GameReceiver receiver(log);
  const auto take = [&receiver](std::uint64_t number) {
    const Instant sent = Instant(1s) + 20ms * static_cast<int>(number);
    receiver.take({0, 0, number, sent}, Instant(1s) + 40ms, sent + 15ms);
  };
  take(0);
  EXPECT_EQ(log.received, 0U) << "sent too early to count";
  take(2);
  take(5);
  EXPECT_EQ(log.received, 2U);
  EXPECT_EQ(log.lost, 3U);
  take(4);
  EXPECT_EQ(log.received, 3U);
  EXPECT_EQ(log.lost, 2U);
  EXPECT_EQ(log.delays.max(), 15ms);
}

}  // namespace
}  // namespace sluice::emulator

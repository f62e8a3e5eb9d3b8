#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/web_client.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/late_link.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

const IpAddress server_v4 = IpAddress::v4(192, 0, 2, 1);
const IpAddress client_v4 = IpAddress::v4(10, 45, 0, 2);
const IpAddress server_v6 = *IpAddress::parse("2001:db8::1");
const IpAddress client_v6 = *IpAddress::parse("2001:db8:45::2");

/// A client and a server with 10 ms and whatever else between them.
class Pair {
 public:
  explicit Pair(const ImpairmentConfig& impairment = {}, std::uint64_t seed = 1, bool v6 = false,
                std::uint32_t ack_every = 2)
      : down_line_(loop_, {10ms, Rate::bits_per_second(20e6), Bytes(60'000)}, to_client_),
        up_line_(loop_, {10ms, Rate(), Bytes()}, to_server_),
        down_(loop_, test::pool(), impairment, Random::stream(seed, "down"), down_line_),
        up_(loop_, test::pool(), impairment, Random::stream(seed, "up"), up_line_),
        server_(loop_, test::pool(), config(v6 ? server_v6 : server_v4), Random::stream(seed, "server"), down_),
        client_(loop_, test::pool(), config(v6 ? client_v6 : client_v4, ack_every), Random::stream(seed, "client"),
                up_) {
    to_client_.lead_to(client_);
    to_server_.lead_to(server_);
    server_.listen(80,
                   [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
  }

  static HostConfig config(const IpAddress& address, std::uint32_t ack_every = 2) {
    HostConfig host;
    host.ack_every = ack_every;
    host.address = address;
    return host;
  }
  BulkConfig bulk(bool upload, std::uint64_t size) const {
    return {server_.config().address, 80, upload, size, Instant{}};
  }

  EventLoop loop_;
  LateLink to_client_;
  LateLink to_server_;
  DelayLine down_line_;
  DelayLine up_line_;
  Impairment down_;
  Impairment up_;
  ServerCounters counters_;
  FlowLog log_;
  Host server_;
  Host client_;
};

void transfers(const ImpairmentConfig& impairment, std::uint64_t seed, bool upload, bool v6 = false) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Pair pair(impairment, seed, v6);
  BulkClient client(pair.loop_, pair.client_, pair.bulk(upload, 300'000), pair.log_);
  pair.loop_.run_until(Instant(300s));
  EXPECT_TRUE(client.complete());
  EXPECT_EQ(pair.log_.corrupted, 0U);
  EXPECT_EQ(pair.counters_.corrupted, 0U);
  EXPECT_EQ(pair.log_.failures, 0U);
  ASSERT_EQ(pair.log_.flows.size(), 1U);
  EXPECT_EQ(pair.log_.flows[0].bytes, 300'000U);
  EXPECT_EQ(upload ? pair.counters_.received : pair.counters_.sent, 300'000U);
  EXPECT_EQ(pair.client_.connections(), 0U);
  EXPECT_EQ(pair.server_.connections(), 0U);
}

TEST(Hosts, ADownloadArrivesWhole) {
  transfers({}, 1, false);
}

tcp::Segment acknowledgement(std::uint32_t ack) {
  tcp::Segment segment;
  segment.ack = tcp::SeqNum(ack);
  segment.flags.bits = tcp::Flags::ack_bit;
  return segment;
}

TEST(AckStretcher, HoldsWhatIsForFewSegmentsNoLongerThanItsDelay) {
  AckStretcher acks(8, 40ms);
  const auto holds = [&acks](std::uint32_t ack, Duration at) {
    return acks.holds(acknowledgement(ack), 1000, Instant(at));
  };
  EXPECT_FALSE(holds(0, 0ms)) << "the first";
  EXPECT_TRUE(holds(2000, 1ms));
  EXPECT_TRUE(holds(6000, 5ms));
  EXPECT_EQ(acks.due(), Instant(41ms));
  EXPECT_FALSE(holds(8000, 6ms));
  EXPECT_EQ(acks.due(), never);
  EXPECT_TRUE(holds(9000, 10ms));
  EXPECT_EQ(acks.due(), Instant(50ms));
  EXPECT_EQ(acks.take().ack, tcp::SeqNum(9000));
  EXPECT_EQ(acks.due(), never);
  EXPECT_FALSE(holds(9000, 60ms)) << "a duplicate, or a window update";
}

TEST(AckStretcher, HoldsNothingThatTellsMore) {
  AckStretcher acks(8, 40ms);
  EXPECT_FALSE(acks.holds(acknowledgement(0), 1000, Instant(0ms)));
  tcp::Segment sacks = acknowledgement(1000);
  sacks.sack_count = 1;
  EXPECT_FALSE(acks.holds(sacks, 1000, Instant(1ms)));
  EXPECT_TRUE(acks.holds(acknowledgement(2000), 1000, Instant(2ms)));
  tcp::Segment data = acknowledgement(2000);
  data.payload_len = 10;
  EXPECT_FALSE(acks.holds(data, 1000, Instant(3ms)));
  EXPECT_EQ(acks.due(), never) << "the data has told it";
  AckStretcher usual(2, 40ms);
  EXPECT_FALSE(usual.holds(acknowledgement(0), 1000, Instant(0ms)));
  EXPECT_FALSE(usual.holds(acknowledgement(10), 1000, Instant(1ms)));
}

/// Frames that a client sends for a download of 100 segments, of which none is lost.
std::uint64_t frames_for_a_download(std::uint32_t ack_every) {
  Pair pair({}, 1, false, ack_every);
  BulkClient client(pair.loop_, pair.client_, pair.bulk(false, 100 * 1448), pair.log_);
  pair.loop_.run_until(Instant(60s));
  EXPECT_TRUE(client.complete());
  EXPECT_EQ(pair.log_.corrupted, 0U);
  return pair.server_.counters().received;
}

TEST(Hosts, AcknowledgementsMayBeStretched) {
  const std::uint64_t usual = frames_for_a_download(2);
  EXPECT_GE(usual, 50U);
  EXPECT_LE(usual, 60U) << "and the handshake, the request and the end";
  const std::uint64_t stretched = frames_for_a_download(10);
  EXPECT_GE(stretched, 10U);
  EXPECT_LE(stretched, 25U);
}

TEST(Hosts, AnUploadArrivesWhole) {
  transfers({}, 1, true);
}

TEST(Hosts, Ipv6) {
  transfers({}, 1, false, true);
}

TEST(Hosts, TransfersSurviveBadWires) {
  ImpairmentConfig bad;
  bad.loss = 0.02;
  bad.duplicate = 0.01;
  bad.reorder = 0.02;
  bad.corrupt = 0.005;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    transfers(bad, seed, false);
    transfers(bad, seed, true);
  }
}

TEST(Hosts, CorruptedFramesAreDroppedByTheirChecksum) {
  ImpairmentConfig bad;
  bad.corrupt = 0.2;
  Pair pair(bad, 3);
  BulkClient client(pair.loop_, pair.client_, pair.bulk(false, 100'000), pair.log_);
  pair.loop_.run_until(Instant(600s));
  EXPECT_GT(pair.client_.counters().bad_checksum + pair.server_.counters().bad_checksum, 0U);
  EXPECT_EQ(pair.log_.corrupted, 0U);
}

TEST(Hosts, NoPacketIsLongerThanTheSendersOwnMtuWhateverThePeerTakes) {
  Pair pair;
  HostConfig jumbo = Pair::config(client_v4);
  jumbo.mtu = 9000;
  Host client(pair.loop_, test::pool(), jumbo, Random(7), pair.up_);
  std::uint16_t longest = 0;
  Tap tap([&](const packet::Packet& packet, Instant) { longest = std::max(longest, packet.size()); }, client);
  pair.to_client_.lead_to(tap);
  BulkClient download(pair.loop_, client, pair.bulk(false, 300'000), pair.log_);
  pair.loop_.run_until(Instant(60s));
  EXPECT_TRUE(download.complete());
  EXPECT_EQ(pair.log_.corrupted, 0U);
  EXPECT_EQ(longest, 14 + 1500);
}

std::vector<packet::Packet> all_packet_memory() {
  std::vector<packet::Packet> taken;
  for (packet::Packet packet = test::pool().allocate(); packet; packet = test::pool().allocate()) {
    taken.push_back(std::move(packet));
  }
  return taken;
}

/// Fetches, and has no packet memory at the moment when it asks.
class ShortOfMemoryToAsk final : public Application {
 public:
  void on_open(Connection& connection, Instant) override {
    const std::vector<packet::Packet> taken = all_packet_memory();
    connection.send(Request{Request::Verb::fetch, 10'000}.encode());
    connection.finish();
  }
  void on_data(Connection&, std::span<const std::uint8_t> bytes, Instant) override { fetched += bytes.size(); }

  std::size_t fetched = 0;
};

TEST(Hosts, ARequestThatFindsNoPacketMemoryIsSentLater) {
  Pair pair;
  ShortOfMemoryToAsk client;
  pair.client_.connect(server_v4, 80, client, Instant{});
  pair.loop_.run_until(Instant(300s));
  EXPECT_EQ(client.fetched, 10'000U);
  EXPECT_EQ(pair.counters_.refused, 0U);
  EXPECT_EQ(pair.client_.connections() + pair.server_.connections(), 0U) << "closed behind the request";
}

/// Has no packet memory for its answers when it makes them.
class ShortOfMemory final : public Application {
 public:
  ShortOfMemory(const packet::Addresses& ours, ServerCounters& counters) : server_(ours, counters) {}
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override {
    const std::vector<packet::Packet> taken = all_packet_memory();
    server_.on_data(connection, bytes, now);
  }
  void on_room(Connection& connection, Instant now) override { server_.on_room(connection, now); }
  void on_peer_finished(Connection& connection, Instant now) override { server_.on_peer_finished(connection, now); }

 private:
  PatternServer server_;
};

TEST(Hosts, SoIsTheAnswerThatAnUploadIsComplete) {
  Pair pair;
  pair.server_.listen(
      80, [&](const packet::Addresses& ours) { return std::make_unique<ShortOfMemory>(ours, pair.counters_); });
  BulkClient client(pair.loop_, pair.client_, pair.bulk(true, 10'000), pair.log_);
  pair.loop_.run_until(Instant(60s));
  EXPECT_TRUE(client.complete());
  EXPECT_EQ(pair.counters_.received, 10'000U);
  EXPECT_EQ(pair.client_.connections() + pair.server_.connections(), 0U);
}

TEST(Hosts, AClosedPortRefuses) {
  Pair pair;
  BulkConfig bulk = pair.bulk(false, 1000);
  bulk.port = 81;
  BulkClient client(pair.loop_, pair.client_, bulk, pair.log_);
  pair.loop_.run_until(Instant(5s));
  ASSERT_EQ(pair.log_.flows.size(), 1U);
  EXPECT_EQ(pair.log_.flows[0].reason, tcp::CloseReason::refused);
  EXPECT_EQ(pair.log_.failures, 1U);
  EXPECT_EQ(pair.server_.counters().resets_sent, 1U);
  EXPECT_LT(pair.log_.flows[0].finished, Instant(50ms));
}

TEST(Hosts, AThroughputNearTheLineRateIsReached) {
  Pair pair;
  BulkClient client(pair.loop_, pair.client_, pair.bulk(false, Request::endless), pair.log_);
  pair.loop_.run_until(Instant(20s));
  EXPECT_GT(static_cast<double>(client.transferred()) * 8 / 20, 0.85 * 20e6);
  EXPECT_EQ(client.corrupted(), 0U);
}

TEST(Hosts, PagesAreFetchedOneAfterTheOther) {
  Pair pair;
  WebConfig web;
  web.server = server_v4;
  WebClient client(pair.loop_, pair.client_, web, Random::stream(5, "web"), pair.log_);
  pair.loop_.run_until(Instant(60s));
  EXPECT_GT(pair.log_.fetches, 50U);
  EXPECT_EQ(pair.log_.failures, 0U);
  EXPECT_EQ(pair.log_.corrupted, 0U);
  EXPECT_GE(pair.log_.fetch_times.percentile(0.01), 20ms) << "no object comes faster than the round trip";
  EXPECT_GE(pair.log_.page_times.percentile(0.5), pair.log_.fetch_times.percentile(0.5));
}

TEST(Hosts, ASegmentForNoConnectionIsAnsweredWithAReset) {
  Pair pair;
  BulkClient client(pair.loop_, pair.client_, pair.bulk(false, Request::endless), pair.log_);
  pair.loop_.run_until(Instant(1s));
  // The client forgets everything; its successor at the same address knows nothing of the connection.
  EventLoop loop;
  Host amnesiac(pair.loop_, test::pool(), Pair::config(client_v4), Random(9), pair.up_);
  pair.to_client_.lead_to(amnesiac);
  pair.loop_.run_until(Instant(2s));
  EXPECT_GT(amnesiac.counters().resets_sent, 0U);
  EXPECT_EQ(pair.server_.connections(), 0U);
}

TEST(Hosts, SomethingElseThanARequestIsRefused) {
  class Noise final : public Application {
   public:
    void on_open(Connection& connection, Instant) override {
      const std::vector<std::uint8_t> bytes(64, 0xee);
      connection.send(bytes);
    }
    void on_data(Connection&, std::span<const std::uint8_t>, Instant) override {}
    void on_closed(Connection& connection, Instant) override { reason = connection.endpoint().close_reason(); }
    tcp::CloseReason reason = tcp::CloseReason::none;
  };
  Pair pair;
  Noise noise;
  pair.client_.connect(server_v4, 80, noise, Instant{});
  pair.loop_.run_until(Instant(5s));
  EXPECT_EQ(noise.reason, tcp::CloseReason::reset_by_peer);
  EXPECT_EQ(pair.counters_.refused, 1U);
}

TEST(PayloadPattern, KnowsItsBytesAndNoOthers) {
  const PayloadPattern pattern(7);
  std::vector<std::uint8_t> bytes(200'000);
  pattern.fill(1'000'003, bytes);
  EXPECT_TRUE(pattern.matches(1'000'003, bytes));
  EXPECT_TRUE(pattern.matches(1'000'103, std::span(bytes).subspan(100)));
  EXPECT_FALSE(pattern.matches(1'000'004, bytes));
  EXPECT_FALSE(PayloadPattern(8).matches(1'000'003, bytes));
  bytes[123'456] ^= 1;
  EXPECT_FALSE(pattern.matches(1'000'003, bytes));
}

TEST(Request, RoundTripsAndRefusesNoise) {
  const Request request{Request::Verb::put, 0x0123456789abcdefULL};
  const auto bytes = request.encode();
  const auto back = Request::decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->verb, Request::Verb::put);
  EXPECT_EQ(back->size, request.size);
  auto broken = bytes;
  broken[4] = 9;
  EXPECT_FALSE(Request::decode(broken));
  broken = bytes;
  broken[0] = 'X';
  EXPECT_FALSE(Request::decode(broken));
}

}  // namespace
}  // namespace sluice::emulator

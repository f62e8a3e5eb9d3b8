// Tests of the emulated hosts: transfers over good and impaired links, and their ACK behaviour.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/packet/parse.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/web_client.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/deferred_element.hpp"
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
    to_client_.set_next(client_);
    to_server_.set_next(server_);
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
  DeferredElement to_client_;
  DeferredElement to_server_;
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

constexpr std::uint32_t full = 1000;

TEST(AckStretcher, AnAckCoversManySegmentsOrItsDelay) {
  AckStretcher acks(8, 40ms);
  const auto came = [&acks](std::uint32_t next, Duration at) {
    return acks.on_received(tcp::SeqNum(next), full, Instant(at));
  };
  const auto holds = [&acks](std::uint32_t ack) {
    tcp::Segment segment = acknowledgement(ack);
    return acks.holds(segment);
  };
  EXPECT_FALSE(holds(0)) << "the first";
  EXPECT_FALSE(came(1000, 1ms));
  EXPECT_FALSE(came(2000, 2ms));
  EXPECT_TRUE(holds(2000));
  EXPECT_EQ(acks.due(), Instant(41ms)) << "as of what came first";
  EXPECT_FALSE(acks.take(0)) << "it is not due";
  EXPECT_TRUE(came(8000, 6ms));
  EXPECT_FALSE(holds(8000));
  EXPECT_EQ(acks.due(), never);
  EXPECT_FALSE(came(9000, 10ms));
  EXPECT_FALSE(came(10'000, 11ms));
  EXPECT_TRUE(holds(10'000));
  EXPECT_TRUE(came(10'000, 50ms));
  EXPECT_EQ(acks.take(0)->ack, tcp::SeqNum(10'000));
  EXPECT_EQ(acks.due(), never);
  EXPECT_FALSE(came(10'000, 60ms));
  EXPECT_FALSE(holds(10'000)) << "a duplicate, or a window update";
}

TEST(AckStretcher, AnAckIsBuiltWhenItIsSent) {
  AckStretcher acks(8, 40ms);
  tcp::Segment segment = acknowledgement(0);
  EXPECT_FALSE(acks.holds(segment));
  const auto made = [&](std::uint32_t ack, std::uint32_t time, std::uint32_t echo) {
    segment = acknowledgement(ack);
    segment.has_timestamps = true;
    segment.ts_value = time;
    segment.ts_echo = echo;
    return acks.holds(segment);
  };
  EXPECT_FALSE(acks.on_received(tcp::SeqNum(4000), full, Instant(1ms)));
  EXPECT_TRUE(made(2000, 1, 500));
  EXPECT_TRUE(made(4000, 3, 502));
  EXPECT_TRUE(acks.on_received(tcp::SeqNum(8000), full, Instant(7ms)));
  EXPECT_FALSE(made(8000, 7, 506));
  EXPECT_EQ(segment.ts_echo, 500U) << "of the first segment that it is for";
  EXPECT_FALSE(acks.on_received(tcp::SeqNum(10'000), full, Instant(8ms)));
  EXPECT_TRUE(made(10'000, 8, 508));
  EXPECT_TRUE(acks.on_received(tcp::SeqNum(10'000), full, Instant(48ms)));
  const auto taken = acks.take(48);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->ts_value, 48U);
  EXPECT_EQ(taken->ts_echo, 508U);
}

TEST(AckStretcher, HoldsOnlyPlainAcks) {
  AckStretcher acks(8, 40ms);
  tcp::Segment segment = acknowledgement(0);
  EXPECT_FALSE(acks.holds(segment));
  segment = acknowledgement(1000);
  segment.sack_count = 1;
  EXPECT_FALSE(acks.holds(segment));
  segment = acknowledgement(2000);
  EXPECT_FALSE(acks.holds(segment)) << "the hole is filled";
  segment = acknowledgement(3000);
  EXPECT_TRUE(acks.holds(segment));
  segment.payload_len = 10;
  EXPECT_FALSE(acks.holds(segment));
  EXPECT_EQ(acks.due(), never) << "the data has told it";
  AckStretcher usual(2, 40ms);
  segment = acknowledgement(0);
  EXPECT_FALSE(usual.holds(segment));
  EXPECT_FALSE(usual.on_received(tcp::SeqNum(10), full, Instant(1ms)));
  segment = acknowledgement(10);
  EXPECT_FALSE(usual.holds(segment));
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

/// Looks at what passes between a server and a client whose acknowledgements are stretched.
struct StretchedAcks {
  struct Arrival {
    Instant at{};
    std::uint32_t time = 0;
  };

  void came(const packet::Packet& packet, Instant now) {
    packet::Parsed parsed;
    ASSERT_EQ(packet::parse(packet, parsed), packet::ParseResult::tcp);
    if (parsed.segment.payload_len > 0) arrivals[parsed.segment.seq.raw()] = {now, parsed.segment.ts_value};
  }
  void left(const packet::Packet& packet, Instant at) {
    packet::Parsed parsed;
    ASSERT_EQ(packet::parse(packet, parsed), packet::ParseResult::tcp);
    const tcp::Segment& segment = parsed.segment;
    const auto ticks = static_cast<std::uint32_t>(at.time_since_epoch() / 1ms);
    if (!clock) clock = segment.ts_value - ticks;
    EXPECT_EQ(segment.ts_value - ticks, *clock) << "it has the time of its departure";
    const auto first = arrivals.find(acknowledged.raw());
    if (segment.ack > acknowledged && first != arrivals.end()) {
      EXPECT_EQ(segment.ts_echo, first->second.time) << "RFC 7323 section 4.3";
      EXPECT_LE(at - first->second.at, 40ms);
      longest = std::max(longest, at - first->second.at);
      most = std::max(most, segment.ack - acknowledged);
    }
    acknowledged = segment.ack;
  }

  std::map<std::uint32_t, Arrival> arrivals;  ///< by sequence number, at the client
  tcp::SeqNum acknowledged;
  std::optional<std::uint32_t> clock;
  Duration longest{};
  std::int32_t most = 0;
};

TEST(Hosts, AStretchedAckIsBuiltWhenItIsSent) {
  Pair pair({}, 1, false, 13);  // more than a first window, which waits
  StretchedAcks watch;
  Tap down([&](const packet::Packet& packet, Instant now) { watch.came(packet, now); }, pair.client_);
  Tap up([&](const packet::Packet& packet, Instant now) { watch.left(packet, now - 10ms); }, pair.server_);
  pair.to_client_.set_next(down);
  pair.to_server_.set_next(up);
  BulkClient client(pair.loop_, pair.client_, pair.bulk(false, 100 * 1448), pair.log_);
  pair.loop_.run_until(Instant(60s));
  EXPECT_TRUE(client.complete());
  EXPECT_EQ(watch.most, 13 * 1448);
  EXPECT_EQ(watch.longest, 40ms);
}

TEST(Hosts, AnUploadArrivesWhole) {
  transfers({}, 1, true);
}

TEST(Hosts, TransfersWorkOverIpv6) {
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

TEST(Hosts, NoPacketExceedsTheMtuOfTheSender) {
  Pair pair;
  HostConfig jumbo = Pair::config(client_v4);
  jumbo.mtu = 9000;
  Host client(pair.loop_, test::pool(), jumbo, Random(7), pair.up_);
  std::uint16_t longest = 0;
  Tap tap([&](const packet::Packet& packet, Instant) { longest = std::max(longest, packet.size()); }, client);
  pair.to_client_.set_next(tap);
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

TEST(Hosts, AnUploadAnswerThatFindsNoPacketMemoryIsSentLater) {
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

TEST(Hosts, AnAbortedUploadCountsOnlyAcknowledgedBytes) {
  Pair pair;
  pair.log_.count_from = Instant(500ms);
  BulkConfig bulk = pair.bulk(true, Request::endless);
  bulk.stop = Instant(1s);
  BulkClient client(pair.loop_, pair.client_, bulk, pair.log_);
  pair.loop_.run_until(Instant(500ms));
  const std::uint64_t received_before = pair.counters_.received;
  pair.loop_.run_until(Instant(990ms));  // one way: the client knows this much at the abort
  const std::uint64_t acknowledged = pair.counters_.received;
  pair.loop_.run_until(Instant(2s));
  ASSERT_EQ(pair.log_.flows.size(), 1U);
  const FlowRecord& flow = pair.log_.flows[0];
  EXPECT_EQ(flow.reason, tcp::CloseReason::aborted);
  EXPECT_GT(flow.bytes, 0U);
  EXPECT_LE(flow.bytes, acknowledged);
  EXPECT_GT(flow.measured, 0U);
  EXPECT_LE(flow.bytes - flow.measured, received_before);
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
  // The client loses its state; its successor at the same address does not know the connection.
  EventLoop loop;
  Host amnesiac(pair.loop_, test::pool(), Pair::config(client_v4), Random(9), pair.up_);
  pair.to_client_.set_next(amnesiac);
  pair.loop_.run_until(Instant(2s));
  EXPECT_GT(amnesiac.counters().resets_sent, 0U);
  EXPECT_EQ(pair.server_.connections(), 0U);
}

TEST(Hosts, AnythingButARequestIsRefused) {
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

TEST(PayloadPattern, MatchesOnlyItsOwnBytes) {
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

TEST(Request, IsParsedFromItsTextAndRefusesNoise) {
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

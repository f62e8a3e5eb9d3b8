// Tests of the event loop, delay lines and routers of the emulated network.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/flow_key.hpp"
#include "emulator/net/ip_header.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/net/router.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::packet_of;
using test::Recorder;

/// `size` bytes behind an Ethernet header.
packet::Packet of_size(std::size_t size, std::uint8_t mark = 0) {
  return packet_of(std::vector<std::uint8_t>(14 + size, mark));
}

std::vector<double> times(const Recorder& recorder) {
  std::vector<double> result;
  for (const auto& entry : recorder.entries) result.push_back(to_milliseconds(entry.at.time_since_epoch()));
  return result;
}

TEST(Ring, StaysFirstInFirstOutWhenItGrows) {
  Ring<int> ring;
  Random random(1);
  int in = 0;
  int out = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (random.chance(i < 50'000 ? 0.55 : 0.45)) {
      ring.push(in++);
      ASSERT_EQ(ring.back(), in - 1);
    } else if (!ring.empty()) {
      ASSERT_EQ(ring.front(), out);
      ASSERT_EQ(ring.pop(), out++);
    }
    ASSERT_EQ(ring.size(), static_cast<std::size_t>(in - out));
  }
}

/// Notes which events run, and sets up to two more from each, some of them due at once.
class Breeder final : public EventTarget {
 public:
  explicit Breeder(EventLoop& loop) : loop_(loop) {}
  void set(Instant when) {
    loop_.at(when, *this, expected_.size());
    expected_.emplace_back(std::max(when, loop_.now()), expected_.size());
  }
  void on_event(std::uint64_t tag, Instant now) override {
    ran_.emplace_back(now, tag);
    for (auto more = random_.below(3); more > 0 && expected_.size() < 5000; --more) {
      set(now + milliseconds(static_cast<int>(random_.below(20))));
    }
  }
  /// Returns the timers that were set, in the order in which they have to run.
  [[nodiscard]] std::vector<std::pair<Instant, std::uint64_t>> expected() const {
    auto sorted = expected_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  [[nodiscard]] const std::vector<std::pair<Instant, std::uint64_t>>& ran() const { return ran_; }

 private:
  EventLoop& loop_;
  Random random_{5};
  std::vector<std::pair<Instant, std::uint64_t>> expected_;  ///< when, and its number
  std::vector<std::pair<Instant, std::uint64_t>> ran_;
};

TEST(EventLoop, RunsEventsByTimeAndThenInTheOrderOfScheduling) {
  EventLoop loop;
  Breeder breeder(loop);
  for (int i = 0; i < 100; ++i) breeder.set(at_ms(i % 7));
  for (int ms = 0; loop.next() != never; ++ms) loop.run_until(at_ms(ms));
  EXPECT_GT(breeder.ran().size(), 1000U);
  EXPECT_EQ(breeder.ran(), breeder.expected());
}

TEST(DelayLine, DelaysAndKeepsOrder) {
  EventLoop loop;
  Recorder far;
  DelayLine line(loop, {milliseconds(10), Rate(), Bytes()}, far);
  line.receive(of_size(100, 1), loop.now());
  loop.run_until(at_ms(4));
  line.receive(of_size(100, 2), loop.now());
  line.receive(of_size(100, 3), loop.now());
  EXPECT_EQ(line.in_flight(), 3U);
  loop.run_until(at_ms(100));
  EXPECT_EQ(times(far), std::vector<double>({10, 14, 14}));
  EXPECT_EQ(far.entries[1].mark, 2);
  EXPECT_EQ(far.entries[2].mark, 3);
}

TEST(DelayLine, JitterIsWithinItsBoundsAndNoPacketOvertakes) {
  EventLoop loop;
  Recorder far;
  DelayLine line(loop, {milliseconds(100), Rate(), Bytes(), milliseconds(30)}, far, Random(1));
  for (int i = 0; i < 500; ++i) {
    line.receive(of_size(100, static_cast<std::uint8_t>(i)), loop.now());
    loop.run_until(at_ms(1000.0 * (i + 1)));
  }
  double least = 1e9;
  double most = 0;
  for (std::size_t i = 0; i < far.entries.size(); ++i) {
    const double delay = times(far)[i] - 1000 * static_cast<double>(i);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, 70);
  EXPECT_LT(least, 71);
  EXPECT_LE(most, 130);
  EXPECT_GT(most, 129);
  far.entries.clear();
  for (int i = 0; i < 200; ++i) line.receive(of_size(100, static_cast<std::uint8_t>(i)), loop.now());
  loop.run_until(loop.now() + std::chrono::seconds(1));
  ASSERT_EQ(far.entries.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) ASSERT_EQ(far.entries[i].mark, i);
}

TEST(DelayLine, ARateSpacesThePackets) {
  EventLoop loop;
  Recorder far;
  DelayLine line(loop, {milliseconds(10), Rate::bits_per_second(8e6), Bytes()}, far);  // 1 ms per 1000 bytes
  line.receive(of_size(1000), loop.now());
  line.receive(of_size(500), loop.now());
  loop.run_until(at_ms(5));
  line.receive(of_size(1000), loop.now());
  loop.run_until(at_ms(100));
  EXPECT_EQ(times(far), std::vector<double>({11, 11.5, 16}));
}

TEST(DelayLine, TheBufferHoldsWhatWaitsForTheLine) {
  EventLoop loop;
  Recorder far;
  DelayLine line(loop, {milliseconds(0), Rate::bits_per_second(8e6), Bytes(2000)}, far);
  for (std::uint8_t i = 0; i < 5; ++i) line.receive(of_size(1000, i), loop.now());  // one on the line, two wait
  EXPECT_EQ(line.counters().dropped, 2U);
  loop.run_until(at_ms(1));
  line.receive(of_size(1000, 9), loop.now());  // one of the two has begun
  EXPECT_EQ(line.counters().dropped, 2U);
  line.receive(of_size(1, 9), loop.now());
  EXPECT_EQ(line.counters().dropped, 3U);
  loop.run_until(at_ms(100));
  EXPECT_EQ(times(far), std::vector<double>({1, 2, 3, 4}));
  EXPECT_EQ(line.counters().packets, 7U);
}

/// Sends back what comes.
class Mirror final : public Element {
 public:
  void receive(packet::Packet packet, Instant now) override {
    if (++seen < 1000) back->receive(std::move(packet), now);
  }
  Element* back = nullptr;
  int seen = 0;
};

TEST(DelayLine, MayFeedItself) {
  EventLoop loop;
  Mirror mirror;
  DelayLine line(loop, {milliseconds(1), Rate(), Bytes()}, mirror);
  mirror.back = &line;
  line.receive(of_size(10), loop.now());
  loop.run_until(at_ms(500));
  EXPECT_EQ(mirror.seen, 500);
  EXPECT_THROW(DelayLine(loop, {milliseconds(-1), Rate(), Bytes()}, mirror), std::invalid_argument);
  EXPECT_THROW(DelayLine(loop, {milliseconds(1), Rate(), Bytes(), milliseconds(2)}, mirror), std::invalid_argument);
}

TEST(Router, PrefersTheExactAddressAndThenTheLongestPrefix) {
  Recorder host;
  Recorder narrow;
  Recorder wide;
  Recorder rest;
  Router router;
  router.add(IpPrefix::parse("10.0.0.0/8").value(), wide);
  router.add(IpPrefix::parse("10.1.0.0/16").value(), narrow);
  router.add(address("10.1.2.3"), host);
  router.receive(test::frame(address("10.1.2.3"), 100), {});
  router.receive(test::frame(address("10.1.2.4"), 100), {});
  router.receive(test::frame(address("10.2.2.4"), 100), {});
  router.receive(test::frame(address("192.0.2.1"), 100), {});
  EXPECT_EQ(router.dropped(), 1U);
  router.set_default(&rest);
  router.receive(test::frame(address("2001:db8::1"), 100), {});
  router.receive(of_size(20), {});
  EXPECT_EQ(host.entries.size(), 1U);
  EXPECT_EQ(narrow.entries.size(), 1U);
  EXPECT_EQ(wide.entries.size(), 1U);
  EXPECT_EQ(rest.entries.size(), 2U);
  EXPECT_EQ(router.dropped(), 1U);
}

TEST(Tap, ShowsFramesAndPassesThemOn) {
  Recorder far;
  std::size_t seen = 0;
  Tap tap([&](const packet::Packet& packet, Instant now) { seen += now == at_ms(3) ? packet.size() : 0U; }, far);
  tap.receive(of_size(77), at_ms(3));
  EXPECT_EQ(seen, 91U) << "the whole frame";
  EXPECT_EQ(far.entries.size(), 1U);
  Discard end;
  tap.set_next(end);
  tap.receive(of_size(50), at_ms(4));
  EXPECT_EQ(end.packets(), 1U);
  EXPECT_EQ(end.bytes(), 64U);
}

TEST(IpHeader, IsFoundBehindAnyVlanTags) {
  const auto bytes = test::frame_bytes(address("2001:db8::5"), 120);
  const auto header = read_ip_header(bytes);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->destination, address("2001:db8::5"));
  EXPECT_EQ(header->length, Bytes(120));
  // Cut anywhere, it is never read beyond its end and never accepted.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_ip_header(cut).has_value()) << size;
  }
}

TEST(FlowKey, IsParsedBehindVlanTagsButNotFromFragments) {
  std::vector<std::uint8_t> bytes = test::frame_bytes(test::address("10.45.0.2"), 100);
  bytes[14 + 9] = 6;
  bytes[14 + 20] = 0x12;
  bytes[14 + 21] = 0x34;
  bytes[14 + 23] = 80;
  const auto plain = read_flow_key(bytes);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->source_port, 0x1234);
  EXPECT_EQ(plain->destination_port, 80);
  EXPECT_EQ(plain->destination, test::address("10.45.0.2"));
  auto tagged = bytes;
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x07});
  EXPECT_EQ(read_flow_key(tagged), plain);
  EXPECT_EQ(read_flow_key(tagged)->hash(), plain->hash());
  EXPECT_NE(plain->hash(1), plain->hash(2));
  auto fragment = bytes;
  fragment[14 + 6] = 0x20;
  EXPECT_EQ(read_flow_key(fragment)->source_port, 0);
  auto cut = bytes;
  cut.resize(30);
  EXPECT_FALSE(read_flow_key(cut));
  auto long_header = test::frame_bytes(test::address("10.45.0.2"), 40);
  long_header[14] = 0x4f;  // 60 bytes of header in 40 of packet
  long_header[14 + 9] = 6;
  EXPECT_EQ(read_flow_key(long_header)->source_port, 0);
}

}  // namespace
}  // namespace sluice::emulator

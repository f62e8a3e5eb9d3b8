// Tests of capture streams: pcapng output of several shards, limits of their number, and their end when clients
// disconnect or shards stall.
#include "proxy/ops/capture/capture_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/ops/capture/captures.hpp"
#include "proxy/ops/sluicectl/blocks.hpp"

namespace sluice::capture {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// Captures of two shards that a test plays.
class CapturesTest : public testing::Test {
 protected:
  static constexpr std::size_t much = std::size_t{1} << 20U;

  std::shared_ptr<admin::ByteStream> begin(const std::vector<std::string>& words = {}) {
    admin::Answer answer = captures.begin(words);
    EXPECT_TRUE(answer.ok) << answer.value;
    return answer.stream;
  }
  /// The shards look who looks.
  void look() {
    for (TapSlot& slot : slots) static_cast<void>(slot.current());
  }
  /// Reads the stream to its end and returns the totals.
  static sluicectl::CaptureTotals read_to_end(admin::ByteStream& stream) {
    sluicectl::Blocks blocks;
    bool more = true;
    for (int i = 0; more && i < 100; ++i) {
      std::string bytes;
      more = stream.take(bytes, much);
      EXPECT_TRUE(blocks.take(bytes));
    }
    EXPECT_FALSE(more);
    return blocks.totals();
  }

  std::array<TapSlot, 2> slots;
  Instant now{100s};
  int woken = 0;
  Captures captures{{"sluice 1",
                     {"a", "b"},
                     {&slots[0], &slots[1]},
                     [this] { ++woken; },
                     {[this] { return now; }, [] { return std::uint64_t{1'700'000'000} * 1'000'000'000; }}}};
};

TEST_F(CapturesTest, BeginsWithAHeaderAndEndsWithTotals) {
  const auto stream = begin();
  look();
  EXPECT_NE(slots[0].current(), nullptr);
  std::string bytes;
  EXPECT_TRUE(stream->take(bytes, much));
  EXPECT_THAT(bytes, HasSubstr("sluice 1"));
  stream->finish();
  EXPECT_EQ(captures.running(), 0U);
  bytes.clear();
  EXPECT_TRUE(stream->take(bytes, much)) << "a shard may still put something in";
  EXPECT_EQ(bytes, "");
  look();
  EXPECT_EQ(slots[0].current(), nullptr);
  EXPECT_FALSE(stream->take(bytes, much));
  sluicectl::Blocks blocks;
  EXPECT_TRUE(blocks.take(bytes));
  EXPECT_TRUE(blocks.totals().complete);
  EXPECT_EQ(woken, 2);
}

TEST_F(CapturesTest, EndsAfterItsDuration) {
  const auto stream = begin({"--seconds", "2"});
  look();
  std::string bytes;
  now += 1999ms;
  EXPECT_TRUE(stream->take(bytes, much));
  EXPECT_EQ(captures.running(), 1U);
  now += 1ms;
  EXPECT_TRUE(stream->take(bytes, much));
  EXPECT_EQ(captures.running(), 0U);
  look();
  EXPECT_FALSE(stream->take(bytes, much));
}

TEST_F(CapturesTest, AStalledShardDelaysTheEndByOneSecond) {
  const auto stream = begin();
  stream->finish();
  std::string bytes;
  EXPECT_TRUE(stream->take(bytes, much));
  now += 1s;
  EXPECT_FALSE(stream->take(bytes, much));
}

TEST_F(CapturesTest, ACaptureEndsWhenItsClientDisconnects) {
  auto first = begin();
  const auto second = begin();
  look();
  first.reset();
  EXPECT_EQ(captures.running(), 1U);
  look();
  EXPECT_NE(slots[1].current(), nullptr);
}

TEST_F(CapturesTest, TheNumberOfCapturesIsBounded) {
  std::vector<std::shared_ptr<admin::ByteStream>> streams;
  for (std::size_t i = 0; i < max_captures; ++i) streams.push_back(begin());
  const admin::Answer refused = captures.begin({});
  EXPECT_FALSE(refused.ok);
  EXPECT_THAT(refused.value.get<std::string>(), HasSubstr("4 captures run already"));
  streams.pop_back();
  EXPECT_TRUE(captures.begin({}).ok);
  EXPECT_FALSE(captures.begin({"--port"}).ok);
}

/// What keeps the last frames sees them always, and has its place beside as many captures as may run.
TEST_F(CapturesTest, ARecorderSeesFramesWithAndWithoutCaptures) {
  captures.record({std::make_shared<FrameTap>(Filter{}, much), std::make_shared<FrameTap>(Filter{}, much)});
  look();
  EXPECT_NE(slots[0].current(), nullptr);
  std::vector<std::shared_ptr<admin::ByteStream>> streams;
  for (std::size_t i = 0; i < max_captures; ++i) streams.push_back(begin());
  EXPECT_EQ(captures.running(), max_captures);
  look();
  streams.clear();
  look();
  EXPECT_NE(slots[1].current(), nullptr);
  EXPECT_EQ(captures.running(), 0U);
}

/// Their rings stay as long as it may write to them, and the next thing to ask for would be more memory.
TEST_F(CapturesTest, AStalledShardDoesNotLetMemoryGrow) {
  std::size_t begun = 0;
  for (; begun < 100 && captures.begin({}).ok; ++begun) {
  }
  EXPECT_LT(begun, 20U);
  EXPECT_THAT(captures.begin({}).value.get<std::string>(), HasSubstr("try again"));
  look();
  EXPECT_TRUE(captures.begin({}).ok);
}

/// Frames of two shards, put in by a test.
class StreamTest : public testing::Test {
 protected:
  static void put(FrameTap& tap, std::int64_t at, std::uint8_t first) {
    const std::array<std::uint8_t, 4> bytes{first, first, first, first};
    tap.put({at, 4, 0, 0, sent_own}, bytes);
  }
  CaptureStream::Parts parts() {
    return {"",
            {},
            {[this] { return now; }, [] { return std::uint64_t{0}; }},
            [this] { detached = true; },
            [this] { return detached; }};
  }

  std::vector<std::shared_ptr<FrameTap>> taps{std::make_shared<FrameTap>(Filter{}, 4096),
                                              std::make_shared<FrameTap>(Filter{}, 4096)};
  Instant now{100s};
  bool detached = false;
};

TEST_F(StreamTest, FramesOfAllShardsAreSortedByTime) {
  CaptureStream stream(parts(), taps, {});
  std::string header;
  EXPECT_TRUE(stream.take(header, 4096));
  for (std::uint8_t i = 0; i < 6; ++i) put(*taps.at(i % 2 == 0 ? 1 : 0), 1000 * i, static_cast<std::uint8_t>('a' + i));
  std::string bytes;
  EXPECT_TRUE(stream.take(bytes, 4096));
  std::size_t before = 0;
  for (std::uint8_t i = 0; i < 6; ++i) {
    const std::size_t at = bytes.find(std::string(4, static_cast<char>('a' + i)));
    ASSERT_NE(at, std::string::npos);
    EXPECT_GT(at, before) << static_cast<char>('a' + i);
    before = at;
  }
}

TEST_F(StreamTest, ReadingInSmallPartsLosesNothing) {
  CaptureStream stream(parts(), taps, {});
  for (int i = 0; i < 50; ++i) put(*taps.at(0), i, 'x');
  stream.finish();
  sluicectl::Blocks blocks;
  bool more = true;
  for (int i = 0; more && i < 1000; ++i) {
    std::string bytes;
    more = stream.take(bytes, 10);  // less than a frame's header from each shard
    ASSERT_TRUE(blocks.take(bytes));
  }
  EXPECT_FALSE(more);
  EXPECT_EQ(blocks.totals().frames, 50U);
  EXPECT_EQ(blocks.totals().lost, 0U);
}

}  // namespace
}  // namespace sluice::capture

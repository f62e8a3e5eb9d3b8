// The last frames of a run, in a file that outlives it, and read again.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

#include "proxy/engine/base/counters.hpp"
#include "proxy/ops/capture/recovery.hpp"
#include "proxy/ops/capture/ring_file.hpp"
#include "proxy/ops/sluicectl/blocks.hpp"
#include "tests/support/proxy_lab.hpp"
#include "tests/unit/runtime/program.hpp"

namespace sluice::capture {
namespace {

using testing::HasSubstr;
using testing::Not;

class LastFrames : public testing::Test {
 protected:
  static constexpr std::uint32_t snap_length = 96;
  static constexpr std::uint32_t frames_of_shard = 8;

  [[nodiscard]] RingPlan plan() const {
    return {path,
            2 * std::uint64_t{frames_of_shard} * slot_bytes_for(snap_length),
            snap_length,
            false,
            2,
            "sluice 1",
            {"net_a", "net_b"},
            1'000'000};
  }
  /// A run that ends without a word when it is reset.
  RingFile& begin() { return file.emplace(plan()); }
  void put(std::size_t shard, std::int64_t at, const std::string& bytes, Decision decision = sent_own) {
    file->rings()[shard]->put({at, 1000, 0, 0, decision},
                              {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  static constexpr std::size_t many = 3000;
  static constexpr std::uint32_t long_frame = 1000;
  /// The file of a run that ended without a word, with more than is read or written at a time.
  void leave_much() {
    RingPlan large = plan();
    large.snap_length = long_frame;
    large.size = many * std::uint64_t{slot_bytes_for(long_frame)};
    file.emplace(large);
    for (std::size_t at = 0; at < many; ++at) put(at % 2, static_cast<std::int64_t>(at), std::string(long_frame, 'x'));
    file.reset();
  }
  /// Returns the recovered pcapng; `result` describes it.
  std::string recovered(const std::string& from) {
    std::string out;
    result = recover(from, [&out](std::string_view part) { out += part; });
    return out;
  }
  std::string refusal(const std::string& from) {
    try {
      recovered(from);
    } catch (const std::runtime_error& problem) {
      return problem.what();
    }
    return "";
  }
  void overwrite(std::size_t at, const void* bytes, std::size_t size) const {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(pwrite(descriptor, bytes, size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
    close(descriptor);
  }
  static std::size_t slot(std::size_t number) { return sizeof(RingHeader) + number * slot_bytes_for(snap_length); }

  test::TemporaryFolder folder;
  std::string path = folder.path() / "last-frames";
  std::optional<RingFile> file;
  Recovered result;
};

TEST_F(LastFrames, FramesOfAllShardsAreSortedByTimeWithTheirDecisions) {
  begin();
  put(0, 30, "third");
  put(1, 10, "first", static_cast<Decision>(proxy::Counter::forward_handshake));
  put(0, 50, "fifth");
  put(1, 20, "second");
  put(1, 40, "fourth");
  file.reset();
  const std::string text = recovered(path);
  std::size_t before = 0;
  for (const char* const word : {"first", "second", "third", "fourth", "fifth"}) {
    const std::size_t at = text.find(word);
    ASSERT_NE(at, std::string::npos) << word;
    EXPECT_GT(at, before) << word;
    before = at;
  }
  EXPECT_EQ(result.frames, 5U);
  EXPECT_EQ(result.nanoseconds, 40U);
  for (const char* const each :
       {"sluice 1", "net_a", "net_b", "action=forwarded reason=handshake", "action=sent reason=own"})
    EXPECT_THAT(text, HasSubstr(each));
  const std::uint32_t time = 1'000'010;
  EXPECT_THAT(text, HasSubstr(std::string(reinterpret_cast<const char*>(&time), sizeof time))) << "the wall's clock";
  sluicectl::Blocks blocks;
  EXPECT_EQ(blocks.take(text), text) << "whole blocks of pcapng";
  EXPECT_EQ(blocks.totals().frames, 5U);
}

TEST_F(LastFrames, TheOldestFramesAreOverwritten) {
  begin();
  for (int i = 0; i < 20; ++i) put(0, i, "number" + std::to_string(100 + i));
  put(1, 0, "other");
  file.reset();
  const std::string text = recovered(path);
  EXPECT_EQ(result.frames, frames_of_shard + 1U) << "each shard has its own room";
  EXPECT_THAT(text, Not(HasSubstr("number111")));
  for (int i = 12; i < 20; ++i) EXPECT_THAT(text, HasSubstr("number" + std::to_string(100 + i)));
}

/// The program ended in the middle of it.
TEST_F(LastFrames, AnIncompleteFrameIsSkipped) {
  begin();
  put(0, 1, "whole");
  put(0, 2, "half");
  put(0, 3, "behind");
  file.reset();
  const std::uint64_t unfinished = 0;
  overwrite(slot(1), &unfinished, sizeof unfinished);
  const std::string text = recovered(path);
  EXPECT_EQ(result.frames, 2U);
  EXPECT_THAT(text, Not(HasSubstr("half")));
}

TEST_F(LastFrames, TheFileIsPrivateAndKeptAfterACrash) {
  begin();
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(file->left(), "");
  put(0, 1, "of the first run");
  file.reset();
  begin();
  EXPECT_EQ(file->left(), path + ".earlier");
  EXPECT_THAT(recovered(path + ".earlier"), HasSubstr("of the first run"));
  EXPECT_THAT(refusal(path), HasSubstr("a running program"));
  file->remove();
  file.reset();
  EXPECT_FALSE(std::filesystem::exists(path)) << "an end as it should be leaves nothing";
  begin();
  EXPECT_EQ(file->left(), "");
}

/// An operator has deleted the file of a run, so another run could create its own under that name.
TEST_F(LastFrames, AnOrderlyEndLeavesTheFileOfAnotherRun) {
  RingFile first(plan());
  std::filesystem::remove(path);
  begin();
  put(0, 1, "of the other run");
  first.remove();
  file.reset();
  EXPECT_THAT(recovered(path), HasSubstr("of the other run"));
}

TEST_F(LastFrames, AFileOfAnotherProgramIsNotChanged) {
  std::ofstream(path) << "a configuration, by mistake";
  EXPECT_THROW(begin(), std::runtime_error);
  EXPECT_EQ(std::filesystem::file_size(path), 27U);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.path() / "elsewhere", path);
  EXPECT_THROW(begin(), std::runtime_error);
  std::filesystem::remove(path);
  begin();
  EXPECT_THROW(RingFile another(plan()), std::runtime_error) << "it is in use";
  put(0, 1, "still there");
  file.reset();
  EXPECT_THAT(recovered(path), HasSubstr("still there"));
}

/// The run ended before it began, so the frames of an earlier one are worth more.
TEST_F(LastFrames, AnUnstartedRunDoesNotReplaceAnEarlierOne) {
  begin();
  put(0, 1, "of the first run");
  file.reset();
  begin();
  file.reset();
  std::ofstream(path) << std::string(5000, '\0');
  begin();
  EXPECT_EQ(file->left(), "");
  EXPECT_THAT(recovered(path + ".earlier"), HasSubstr("of the first run"));
}

TEST_F(LastFrames, ATruncatedFileLosesFramesWithoutACrash) {
  begin();
  put(0, 1, "before");
  EXPECT_FALSE(file->is_lost());
  std::filesystem::resize_file(path, sizeof(RingHeader));
  for (std::int64_t at = 2; at < 2 + 4 * std::int64_t{frames_of_shard}; ++at) {
    put(0, at, "after");
    put(1, at, "after");
  }
  EXPECT_TRUE(file->is_lost());
  std::filesystem::resize_file(path, 0);
  put(0, 100, "after");
  EXPECT_TRUE(file->is_lost());
  file.reset();
  begin();
  EXPECT_FALSE(file->is_lost());
}

TEST_F(LastFrames, NoFileIsCreatedWithoutDiskSpace) {
  RingPlan large = plan();
  large.size = std::uint64_t{1} << 60U;
  EXPECT_THROW(RingFile another(large), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// The recovering user may be root, and the file may come from anywhere.
TEST_F(LastFrames, EveryFieldOfAFileIsChecked) {
  begin();
  for (int i = 0; i < 20; ++i) put(static_cast<std::size_t>(i % 2), i, std::string(96, 'x'));
  file.reset();
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  int refused = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string bad = good;
    const std::size_t beginning = run % 2 == 0 ? 64 : bad.size();
    for (std::size_t i = 0; i <= below(4); ++i) bad[below(beginning)] = static_cast<char>(below(256));
    if (run % 5 == 0) bad.resize(below(bad.size()));
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
    try {
      const std::string text = recovered(path);
      sluicectl::Blocks blocks;
      ASSERT_EQ(blocks.take(text), text) << run;
      ASSERT_LE(blocks.totals().frames, 2U * frames_of_shard) << run;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 2500);
}

/// Another program may truncate it, or write to it, after its beginning has been read.
TEST_F(LastFrames, AFileThatIsTruncatedWhileItIsReadIsReported) {
  leave_much();
  const auto truncate = [this](std::string_view) { std::filesystem::resize_file(path, 0); };
  try {
    static_cast<void>(recover(path, truncate));
    FAIL() << "nothing was wrong";
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("was truncated while it was read"));
  }
}

TEST_F(LastFrames, AFrameOverwrittenWhileItIsReadIsSkipped) {
  leave_much();
  const std::uint16_t beyond = UINT16_MAX;
  const std::size_t last = sizeof(RingHeader) + (many - 1) * std::size_t{slot_bytes_for(long_frame)};
  std::string text;
  const Recovered read = recover(path, [&](std::string_view part) {
    text += part;
    overwrite(last + offsetof(SlotHeader, frame) + offsetof(FrameHeader, captured), &beyond, sizeof beyond);
  });
  sluicectl::Blocks blocks;
  EXPECT_EQ(blocks.take(text), text);
  EXPECT_EQ(blocks.totals().frames, many - 1);
  EXPECT_EQ(read.frames, many - 1);
}

TEST_F(LastFrames, ControlCharactersOfCommentsAreEscaped) {
  begin();
  put(0, 1, "frame");
  file.reset();
  const std::string bad = "\x1b[2Jgone";
  overwrite(offsetof(RingHeader, comments) + sent_own * sizeof(RingHeader::Text), bad.data(), bad.size());
  const std::string text = recovered(path);
  EXPECT_THAT(text, HasSubstr("?[2Jgone"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(LastFrames, PayloadIsKeptOnlyIfConfigured) {
  std::array<std::byte, slot_bytes_for(512)> memory{};
  std::vector<std::uint8_t> octets(400, 'p');
  const packet::Parsed nothing;
  const Frame frame{{}, {}, octets, packet::ParseResult::runt, nothing};
  EXPECT_EQ(FrameRing(memory, 512, false).shown_bytes(frame), header_bytes(frame));
  EXPECT_EQ(FrameRing(memory, 512, true).shown_bytes(frame), 400U);
  octets.resize(1000);
  const Frame longer{{}, {}, octets, packet::ParseResult::runt, nothing};
  EXPECT_EQ(FrameRing(memory, 512, true).shown_bytes(longer), 512U);
}

}  // namespace
}  // namespace sluice::capture

// Tests of the state file that a killed run leaves for the next one. Its content may be damaged, so every entry is
// checked.
#include "proxy/daemon/runtime/state_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "tests/unit/runtime/program.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Instant start = Instant(1000s);

CrashedConnection crashed(std::uint8_t ue, std::uint16_t port) {
  CrashedConnection made;
  made.key.ue = IpAddress::v4(10, 45, 0, ue);
  made.key.server = IpAddress::v4(198, 51, 100, 7);
  made.key.ue_port = port;
  made.key.server_port = 80;
  for (packet::HeaderTemplate& header : made.headers) header.outer.length = 14;
  made.acknowledged = {tcp::SeqNum(1), tcp::SeqNum(2)};
  return made;
}

JournalEntry connection() {
  JournalEntry entry = to_entry(crashed(99, 1));
  entry.state = JournalEntry::even;
  entry.options = JournalEntry::core_initiates;
  using Offer = JournalEntry::Offer;
  entry.offers = {Offer{1400, 7, Offer::window_scaling | Offer::sack | Offer::ecn}, Offer{1460, 0, Offer::timestamps}};
  return entry;
}

class StateFileTest : public testing::Test {
 protected:
  [[nodiscard]] StateIdentity identity() const {
    return {"a\nb", shards, 8, 1min, [this](const IpAddress& ue) { return ue.octets.back() % shards; }};
  }
  [[nodiscard]] StateFile open(Instant now = start) const { return StateFile(path, identity(), now); }
  /// Leaves the file of a killed run with `exposed` exposed connections and one that was not exposed.
  void leave(std::uint8_t exposed) const {
    StateFile file = open();
    const std::span<JournalEntry> entries = file.entries_of(0);
    for (std::uint8_t i = 0; i < exposed; ++i) entries[i] = to_entry(crashed(i, 40000));
    entries[7] = connection();
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(open());
    } catch (const std::runtime_error& problem) {
      return problem.what();
    }
    return "";
  }

  /// In memory where the system has such a folder, because a disk that is written to by others may have no space for a
  /// moment, and thousands of files are made here.
  test::TemporaryFolder folder{std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                                   : std::filesystem::temp_directory_path()};
  std::string path = (folder.path() / "state").string();
  std::uint32_t shards = 1;
};

TEST_F(StateFileTest, TheNextRunFindsTheEntriesOfTheLast) {
  EXPECT_TRUE(open().left().crashed_connections.empty());
  leave(3);
  const StateFile next = open(start + 30s);
  ASSERT_EQ(next.left().crashed_connections.size(), 3U);
  ASSERT_EQ(next.left().recovered.size(), 1U);
  const RecoveredConnection& connection = next.left().recovered[0];
  EXPECT_TRUE(connection.key == crashed(99, 1).key);
  EXPECT_EQ(connection.initiator, Side::core);
  const tcp::SynOptions radio{
      .mss = 1400, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .ecn = true};
  EXPECT_EQ(connection.offers[0], radio);
  EXPECT_EQ(connection.offers[1], (tcp::SynOptions{.mss = 1460, .timestamps = true}));
  EXPECT_EQ(next.left().alive, start);
  EXPECT_EQ(next.left().ignored, "");
  EXPECT_TRUE(next.left().crashed_connections[1].key == crashed(1, 40000).key);
  EXPECT_EQ(next.left().crashed_connections[1].acknowledged, crashed(1, 40000).acknowledged);
  for (const JournalEntry& entry : next.entries_of(0)) EXPECT_EQ(entry.state, std::uint32_t{JournalEntry::unused});
}

TEST_F(StateFileTest, OrphansStayUntilTheyAreHandled) {
  leave(3);
  open().inherited_by(0).entries[1].state = JournalEntry::unused;
  EXPECT_EQ(open().left().crashed_connections.size(), 2U);
}

/// The positions of its hosts become less certain with each run that they outlive.
TEST_F(StateFileTest, ConnectionsWithoutLossAreKeptForOneRunOnly) {
  leave(3);
  EXPECT_EQ(open().inherited_by(0).recovered.size(), 1U);
  EXPECT_TRUE(open().left().recovered.empty());
  EXPECT_EQ(open().left().crashed_connections.size(), 3U);
}

TEST_F(StateFileTest, EachShardGetsItsEntriesForAnyFormerNumberOfShards) {
  leave(5);
  shards = 3;
  const StateFile file = open();
  std::size_t seen = 0;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const StateFile::Inherited inherited = file.inherited_by(shard);
    ASSERT_EQ(inherited.crashed_connections.size(), inherited.entries.size());
    for (std::size_t i = 0; i < inherited.crashed_connections.size(); ++i) {
      EXPECT_EQ(inherited.crashed_connections[i].key.ue.octets.back() % shards, shard);
      EXPECT_TRUE(inherited.entries[i].key == inherited.crashed_connections[i].key);
      ++seen;
    }
    EXPECT_EQ(file.entries_of(shard).size(), 8U);
  }
  EXPECT_EQ(seen, 5U);
}

TEST_F(StateFileTest, ACleanExitLeavesNothing) {
  leave(3);
  StateFile file = open();
  file.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// An operator has deleted the file of a run, so another run could create its own under that name.
TEST_F(StateFileTest, ACleanExitLeavesTheFileOfAnotherRun) {
  StateFile first = open();
  std::filesystem::remove(path);
  {
    const StateFile second = open();
    second.entries_of(0)[0] = to_entry(crashed(1, 40000));
    first.remove();
  }
  EXPECT_EQ(open().left().crashed_connections.size(), 1U);
}

TEST_F(StateFileTest, AFileInUseIsNotChanged) {
  const StateFile running = open();
  EXPECT_THAT(refusal(), HasSubstr("state.file " + path + " another running program uses it"));
}

TEST_F(StateFileTest, AFileOfOtherPortsOrTooOldIsIgnored) {
  leave(3);
  StateIdentity others = identity();
  others.ports = "c\nd";
  EXPECT_THAT(StateFile(path, others, start).left().ignored, HasSubstr("other ports"));
  leave(3);
  const StateFile late(path, identity(), start + 2min);
  EXPECT_THAT(late.left().ignored, HasSubstr("older than state.keep"));
  EXPECT_TRUE(late.left().crashed_connections.empty());
}

TEST_F(StateFileTest, TheAgeOfAFileCountsFromTheEndOfItsRun) {
  {
    StateFile file = open();
    file.entries_of(0)[0] = to_entry(crashed(1, 40000));
    file.keep_alive(start + 1h);
  }
  EXPECT_EQ(open(start + 1h + 30s).left().crashed_connections.size(), 1U);
}

TEST_F(StateFileTest, FilesAccessibleToOthersAreRefused) {
  leave(1);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(refusal(), HasSubstr("may be read or written by others"));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.write("elsewhere", ""), path);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  path = (folder.path() / "no" / "such" / "folder").string();
  EXPECT_THAT(refusal(), HasSubstr("cannot be made"));
}

TEST_F(StateFileTest, ATruncatedFileLosesEntriesWithoutACrash) {
  {
    StateFile file = open();
    EXPECT_FALSE(file.is_lost());
    std::filesystem::resize_file(path, 0);
    file.entries_of(0)[7] = connection();
    EXPECT_EQ(file.entries_of(0)[7].state, std::uint32_t{JournalEntry::even});
    file.keep_alive(start);
    EXPECT_TRUE(file.is_lost());
  }
  const StateFile next = open();
  EXPECT_TRUE(next.left().recovered.empty());
  EXPECT_FALSE(next.is_lost());
}

TEST_F(StateFileTest, AFileThatWasTruncatedAndExtendedIsLost) {
  StateFile file = open();
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, 0);
  std::filesystem::resize_file(path, size);
  file.keep_alive(start);
  EXPECT_TRUE(file.is_lost());
}

TEST_F(StateFileTest, AnyContentOfAFileIsHandled) {
  leave(4);
  const std::string good = folder.read("state");
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good.substr(0, i % 4 == 0 ? random() % good.size() : good.size());
    // Beyond the header as well as in it, where little passes.
    for (std::size_t n = 0; n < 1 + random() % 40 && !bad.empty(); ++n) {
      const std::size_t from = i % 2 == 0 ? 0 : std::min(sizeof(StateFile::Header), bad.size() - 1);
      bad[from + random() % (bad.size() - from)] = static_cast<char>(random());
    }
    static_cast<void>(folder.write("state", bad));
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    const StateFile file = open();
    EXPECT_LE(file.left().crashed_connections.size(), 8U);
    for (const CrashedConnection& each : file.left().crashed_connections) EXPECT_LE(each.headers[0].outer.length, 22);
  }
}

}  // namespace
}  // namespace sluice::proxy

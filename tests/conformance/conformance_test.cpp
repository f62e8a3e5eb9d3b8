// Each file of scripts/ is a test of its own name, played in all circumstances that it is for. The tests below are of
// the language itself: a script that is wrong, or that expects what does not come, fails with file and line.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "dataplane/packet/pool.hpp"
#include "tests/conformance/run.hpp"
#include "tests/support/eal.hpp"

namespace sluice::conformance {
namespace {

/// Room for the largest frame of a script, 9000 octets of IP packet.
packet::PacketPool& large_buffers() {
  static packet::PacketPool pool("conformance", 2048, 9216);
  return pool;
}

class Conformance : public testing::Test {
 public:
  explicit Conformance(std::string file) : file_(std::move(file)) {}

  void TestBody() override {
    std::ifstream stream(file_);
    try {
      const Script script = read_script(file_, {std::istreambuf_iterator<char>(stream), {}});
      for (const Circumstances& circumstances : circumstances_of(script)) {
        const Outcome outcome = play(script, circumstances, large_buffers());
        if (outcome.line != 0) {
          ADD_FAILURE_AT(file_.c_str(), outcome.line) << "(" << describe(circumstances) << ") " << outcome.message;
        }
        ASSERT_EQ(large_buffers().in_use(), 0U) << "packet buffers leaked, " << describe(circumstances);
      }
    } catch (const ScriptError& error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  std::string file_;
};

const bool registered = [] {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SCRIPTS)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    testing::RegisterTest("Conformance", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [name = file.string()]() -> Conformance* { return new Conformance(name); });
  }
  return !files.empty();
}();

TEST(Scripts, TheFolderContainsScripts) {
  EXPECT_TRUE(registered) << SLUICE_SCRIPTS;
}

Outcome outcome_of(const std::string& lines, const Circumstances& circumstances = {}) {
  const Script script = read_script("a.script", lines);
  return play(script, circumstances, large_buffers());
}

TEST(Scripts, AMatchingConversationHasNoDeviation) {
  const Outcome outcome = outcome_of("---\nopen mss 1460\ncore > P. 5001:6001\nue < . 5001:6001 ack 1001 no ts\n");
  EXPECT_EQ(outcome.line, 0) << outcome.message;
}

TEST(Scripts, ADeviationNamesItsLineAndTheReceivedSegment) {
  const Outcome outcome = outcome_of("---\nopen mss 1460\ncore > P. 5001:6001\n\nue < . 5001:6001 ack 1002\n");
  EXPECT_EQ(outcome.line, 5);
  EXPECT_NE(outcome.message.find("got P. 5001:6001 ack 1001"), std::string::npos) << outcome.message;
  EXPECT_NE(outcome.message.find("(acknowledgement)"), std::string::npos) << outcome.message;
}

TEST(Scripts, AMissingSegmentIsADeviation) {
  EXPECT_EQ(outcome_of("---\nopen mss 1460\ncore < . 5001\n").line, 3);
  EXPECT_EQ(outcome_of("---\nopen mss 1460\ncore > . 5001:5101\nue < nothing\n").line, 4);
  EXPECT_EQ(outcome_of("---\nopen mss 1460\ncore > . 5001:5101\nue has 5102\n").line, 4);
  EXPECT_EQ(outcome_of("---\nopen mss 1460\ncore > . 5001:5101\ncore acked 5101\n").line, 4);
  EXPECT_EQ(outcome_of("---\nopen mss 1460\ncount flows_split 2\n").line, 3);
}

TEST(Scripts, AnUnannouncedResetIsADeviation) {
  const std::string lines = "---\nopen mss 1460\nue > R 1001\n";
  EXPECT_NE(outcome_of(lines).line, 0) << "the proxy tells the core host";
  EXPECT_EQ(outcome_of(lines + "resets\n").line, 0);
}

TEST(Scripts, LinesForOtherConditionsAreSkipped) {
  Circumstances circumstances;
  circumstances.variables["size"] = "7";
  const std::string nonsense = "nothing that is a verb\n";
  for (const std::string others : {"[bypass] ", "[bypass regulate] ", "[split ipv6] ", "[unexposed] ", "[size=8] "}) {
    EXPECT_EQ(outcome_of("---\n" + others + nonsense, circumstances).line, 0) << others;
  }
  for (const std::string ours : {"[split] ", "[split regulate] ", "[split ipv4] ", "[exposed] ", "[size=7] "}) {
    EXPECT_EQ(outcome_of("---\n" + ours + nonsense, circumstances).line, 2) << ours;
  }
}

TEST(Scripts, AnInvalidScriptIsRefusedWithItsLine) {
  for (const std::string wrong :
       {"colour blue\n---\nforget\n", "for x\n---\nforget\n", "---\n", "---\n[split forget\n", "---\n[split]\n"}) {
    EXPECT_THROW((void)read_script("a.script", wrong), ScriptError) << wrong;
  }
  for (const std::string wrong : {"hello",
                                  "ue ~ S 1000",
                                  "ue > Z 1000",
                                  "ue > S",
                                  "ue > S x",
                                  "ue > S 1000 mss 65536",
                                  "ue > S 1000 mss",
                                  "ue > S 1000 sack",
                                  "ue > S 1000 colour",
                                  "ue > S 1000 option 9 0",
                                  "+20",
                                  "+20h",
                                  "count nothing 1",
                                  "core sends 5001 by 5",
                                  "core sends 5001:6001 by 0",
                                  "forget it",
                                  "ue > S $x",
                                  "[sometimes] forget",
                                  "ue > . 1000:999",
                                  "ue > S 1000 no colour",
                                  "ue > S 1000 tag 81 0 0"}) {
    const Outcome outcome = outcome_of("---\n" + wrong + "\n");
    EXPECT_EQ(outcome.line, 2) << wrong;
    EXPECT_EQ(outcome.message.rfind("the script: ", 0), 0U) << wrong << ": " << outcome.message;
  }
  for (const std::string wrong : {"modes sideways", "families 5", "exposure 7"}) {
    EXPECT_THROW((void)circumstances_of(read_script("a.script", wrong + "\n---\nforget\n")), ScriptError) << wrong;
  }
}

TEST(Scripts, NumbersAreSumsModulo2To32) {
  EXPECT_EQ(number_of("4294967290+20-1"), 13U);
  EXPECT_THROW((void)number_of("4294967296"), ScriptError);
}

}  // namespace
}  // namespace sluice::conformance

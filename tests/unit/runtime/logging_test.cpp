// Tests of the log: formats, reopening, and that a slow or missing reader never blocks the proxy.
#include "proxy/daemon/runtime/logging.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sluice::proxy {
namespace {

using testing::HasSubstr;

/// A log file in a folder of its own.
class LogFile : public testing::Test {
 protected:
  LogFile() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-log-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~LogFile() override { std::filesystem::remove_all(folder_); }

  LoggingSettings settings(LogFormat format) {
    LoggingSettings settings;
    settings.format = format;
    settings.file = (folder_ / "log").string();
    return settings;
  }
  static std::vector<std::string> lines(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::vector<std::string> result;
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
  }

  std::filesystem::path folder_;
};

TEST(JsonLogLine, IsValidWhateverTheMessageHolds) {
  const std::string nasty = std::string("quote \" backslash \\ newline \n bell \a bad utf-8 \xff nul ") + '\0' + "end";
  const auto line = nlohmann::json::parse(json_log_line(1'700'000'000'000'042, "info", nasty));
  EXPECT_EQ(line["time"], "2023-11-14T22:13:20.000042Z");
  EXPECT_EQ(line["level"], "info");
  EXPECT_THAT(line["message"].get<std::string>(), HasSubstr("quote \" backslash \\ newline \n bell \a bad utf-8 "));
  EXPECT_EQ(json_log_line(0, "info", nasty).find('\n'), std::string::npos);
}

TEST(SyslogLine, HasPriorityTimeAndProgram) {
  setenv("TZ", "UTC", 1);
  tzset();
  const std::string end = " sluice[" + std::to_string(getpid()) + "]: ";
  EXPECT_EQ(syslog_line(1'700'000'000, LogLevel::info, "hello"), "<30>Nov 14 22:13:20" + end + "hello");
  EXPECT_EQ(syslog_line(0, LogLevel::critical, "a\nb\x1b"), "<26>Jan  1 00:00:00" + end + "a b ");
  EXPECT_LT(syslog_line(0, LogLevel::warning, std::string(100'000, 'x')).size(), 8300U);
}

/// The socket of a syslog daemon.
class Daemon {
 public:
  explicit Daemon(const std::filesystem::path& path) : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    std::filesystem::remove(path);
    if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no socket");
  }
  ~Daemon() { close(descriptor_); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Returns the next line, for which it waits.
  [[nodiscard]] std::string next() const {
    std::array<char, 16'384> line{};
    const ssize_t length = recv(descriptor_, line.data(), line.size(), 0);
    return length < 0 ? "" : std::string(line.data(), static_cast<std::size_t>(length));
  }

 private:
  int descriptor_;
};

TEST_F(LogFile, ASyslogDaemonGetsEachLineTooEvenOneThatRestarts) {
  LoggingSettings both = settings(LogFormat::json);
  both.syslog = (folder_ / "syslog").string();
  auto daemon = std::make_unique<Daemon>(folder_ / "syslog");
  {
    const Logging log(both);
    spdlog::warn("first");
    EXPECT_THAT(daemon->next(), testing::ContainsRegex("^<28>[A-Z].*sluice.[0-9]+.: first$"));
    daemon = std::make_unique<Daemon>(folder_ / "syslog");
    spdlog::info("second");
    EXPECT_THAT(daemon->next(), testing::ContainsRegex("^<30>.*: second$"));
    EXPECT_EQ(log.lost(), 0U);
  }
  EXPECT_EQ(lines(folder_ / "log").size(), 2U) << "the file gets them as before";
}

TEST_F(LogFile, ASyslogDaemonThatIsAbsentOrStoppedBlocksNobody) {
  LoggingSettings both = settings(LogFormat::text);
  both.syslog = (folder_ / "nobody").string();
  {
    const Logging log(both);
    spdlog::info("nobody is there");
  }
  EXPECT_EQ(lines(folder_ / "log").size(), 1U);
  const Daemon stopped(folder_ / "stopped");  // receives nothing
  both.syslog = (folder_ / "stopped").string();
  constexpr std::size_t count = 2000;  // more than any queue of datagrams
  {
    const Logging log(both);
    for (std::size_t i = 0; i < count; ++i) spdlog::info("line {}", i);
  }
  EXPECT_EQ(lines(folder_ / "log").size(), count + 1);
}

TEST_F(LogFile, TheLevelChangesWhileTheLogIsOpen) {
  {
    Logging log(settings(LogFormat::text));
    spdlog::debug("before");
    log.set_level(LogLevel::debug);
    spdlog::debug("while");
    log.set_level(LogLevel::warning);
    spdlog::info("after");
    EXPECT_EQ(log.level(), LogLevel::warning);
  }
  const auto written = lines(folder_ / "log");
  ASSERT_EQ(written.size(), 1U);
  EXPECT_THAT(written[0], HasSubstr("debug    while"));
}

TEST_F(LogFile, TextLinesHaveLevelAndMessage) {
  {
    const Logging log(settings(LogFormat::text));
    spdlog::info("hello");
    spdlog::debug("not at this level");
    spdlog::warn("careful");
  }
  const auto written = lines(folder_ / "log");
  ASSERT_EQ(written.size(), 2U);
  EXPECT_THAT(written[0], testing::ContainsRegex("^20[0-9-]+T[0-9:.]+[+-][0-9:]+ info     hello$"));
  EXPECT_THAT(written[1], HasSubstr(" warning  careful"));
}

TEST_F(LogFile, JsonLinesAreOneObjectEach) {
  {
    const Logging log(settings(LogFormat::json));
    spdlog::info("line one\nline \"two\"");
    spdlog::error("bad");
  }
  const auto written = lines(folder_ / "log");
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(written[0])["message"], "line one\nline \"two\"");
  EXPECT_EQ(nlohmann::json::parse(written[1])["level"], "error");
}

TEST_F(LogFile, ReopenWritesToANewFileAfterTheOldOneWasMoved) {
  {
    Logging log(settings(LogFormat::text));
    spdlog::info("before");
    std::filesystem::rename(folder_ / "log", folder_ / "log.1");
    spdlog::info("still the old one");
    EXPECT_EQ(log.reopen(), "");
    spdlog::info("after");
  }
  EXPECT_EQ(lines(folder_ / "log.1").size(), 2U);
  ASSERT_EQ(lines(folder_ / "log").size(), 1U);
  EXPECT_THAT(lines(folder_ / "log")[0], HasSubstr("after"));
}

/// A pipe that takes the place of the standard error output.
class StandardErrorPipe {
 public:
  StandardErrorPipe() : saved_(dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reader_ = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
  }
  ~StandardErrorPipe() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(reader_);
  }
  StandardErrorPipe(const StandardErrorPipe&) = delete;
  StandardErrorPipe& operator=(const StandardErrorPipe&) = delete;

  /// Reads until a line holds `end`.
  [[nodiscard]] std::vector<std::string> read_until(const std::string& end) const {
    std::string text;
    std::array<char, 65536> part{};
    while (text.empty() || text.find(end) == std::string::npos || text.back() != '\n') {
      const ssize_t count = read(reader_, part.data(), part.size());
      if (count <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

 private:
  int saved_;
  int reader_ = -1;
};

/// Every line is either read, or counted by the line that takes the place of those that were lost.
TEST(LogPipe, LoggingDoesNotBlockWithoutAReaderAndLostLinesAreReported) {
  const StandardErrorPipe pipe;
  const Logging log(LoggingSettings{});
  const std::string text(200, 'x');
  std::uint64_t logged = 0;
  while (log.lost() < 1000) {
    spdlog::info("{} {}", logged++, text);
  }
  EXPECT_EQ(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0) << "other processes share it";
  // Lines can be lost more than once, because the writing thread may find room in between.
  std::size_t whole = 0;
  std::uint64_t reported = 0;
  while (reported < log.lost()) {
    const std::vector<std::string> lines = pipe.read_until("log lines lost");
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      std::smatch number;
      if (std::regex_search(line, number, std::regex("([0-9]+) log lines lost"))) reported += std::stoull(number[1]);
      whole += line.ends_with(text) ? 1U : 0U;
    }
  }
  EXPECT_EQ(whole + reported, logged);
  spdlog::info("the end");
  EXPECT_THAT(pipe.read_until("the end").back(), HasSubstr("the end"));
}

TEST(LogPipe, TheLogEndsWithoutAReader) {
  const StandardErrorPipe pipe;
  {
    const Logging log(LoggingSettings{});
    const std::string text(200, 'x');
    while (log.lost() == 0) spdlog::info("{}", text);
  }
  static_cast<void>(pipe.read_until(""));  // the writing thread comes out of its call
}

TEST(LogDisk, AFullDiskLosesOnlyLogLines) {
  LoggingSettings full;
  full.file = "/dev/full";
  const Logging log(full);
  spdlog::info("one");
  spdlog::info("two");
  while (log.lost() < 2) std::this_thread::yield();
  EXPECT_EQ(log.lost(), 2U) << "the line that states the loss is none";
}

TEST_F(LogFile, AFileThatCannotBeOpenedIsAnError) {
  LoggingSettings nowhere;
  nowhere.file = "/proc/nonexistent/log";
  EXPECT_THROW(Logging{nowhere}, std::runtime_error);
}

}  // namespace
}  // namespace sluice::proxy

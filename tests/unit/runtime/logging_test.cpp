#include "proxy/runtime/logging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

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

TEST_F(LogFile, ReopenWritesToANewFileWhereTheOldOneWasMovedAway) {
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

TEST_F(LogFile, AFileThatCannotBeOpenedIsAnError) {
  LoggingSettings nowhere;
  nowhere.file = "/proc/nonexistent/log";
  EXPECT_THROW(Logging{nowhere}, std::runtime_error);
}

}  // namespace
}  // namespace sluice::proxy

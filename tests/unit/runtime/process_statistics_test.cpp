// Tests of the process_* metrics: how /proc/PID/stat is parsed, and what this process reads of itself.
#include "proxy/daemon/status/process_statistics.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace sluice::proxy {
namespace {

constexpr const char* stat_line =
    "4711 (sluice (a) b) S 1 4711 4711 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 3 0 123456 987654144 2048 "
    "18446744073709551615 1 1 0\n";

TEST(ProcessStatistics, FieldsAreCountedBehindTheNameOfTheProgram) {
  const auto stat = parse_process_stat(stat_line);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->start_ticks, 123456U);
  EXPECT_EQ(stat->virtual_bytes, 987654144U);
  EXPECT_EQ(stat->resident_pages, 2048U);
}

TEST(ProcessStatistics, AnIncompleteLineIsRefused) {
  const std::string_view line(stat_line);
  for (const std::string_view bad : {std::string_view(), std::string_view("4711 sluice S 1"), line.substr(0, 40),
                                     line.substr(0, line.find("987654144"))})
    EXPECT_FALSE(parse_process_stat(bad)) << bad;
}

TEST(ProcessStatistics, ThisProcessReadsItself) {
  const ProcessStatisticsReader reader;
  const ProcessStatistics before = reader.read();
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GT(before.resident_bytes.value(), 100'000U);
  EXPECT_GT(before.virtual_bytes.value(), before.resident_bytes.value());
  EXPECT_LE(before.start_time_seconds.value(), now + 1);
  EXPECT_GT(before.start_time_seconds.value(), 0);
  EXPECT_GE(before.max_descriptors.value_or(1024), before.open_descriptors.value());
  const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(reader.read().open_descriptors.value(), before.open_descriptors.value() + 1);
  close(descriptor);
  EXPECT_GE(reader.read().cpu_seconds, before.cpu_seconds);
}

}  // namespace
}  // namespace sluice::proxy

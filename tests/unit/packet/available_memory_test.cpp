#include "dataplane/packet/available_memory.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::packet {
namespace {

/// The kernel's files, written by the test.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() {
    std::string path = (std::filesystem::temp_directory_path() / "sluice-memory-XXXXXX").string();
    root_ = mkdtemp(path.data());
  }
  ~AvailableMemory() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  std::filesystem::path root_;
};

TEST_F(AvailableMemory, IsUnknownWithoutFilesOfTheKernel) {
  EXPECT_FALSE(available_memory(root_));
}

TEST_F(AvailableMemory, IncludesSwapSpace) {
  write("proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:   600 kB\nHugePages_Total:  0\nSwapFree:  20 kB\n");
  EXPECT_EQ(available_memory(root_), 620U * 1024);
}

TEST_F(AvailableMemory, IsWhatTheNarrowestControlGroupLeaves) {
  write("proc/meminfo", "MemAvailable:   600000 kB\n");
  write("proc/self/cgroup", "0::/box/inner\n");
  write("sys/fs/cgroup/box/inner/memory.max", "max\n");
  write("sys/fs/cgroup/box/inner/memory.current", "1000\n");
  EXPECT_EQ(available_memory(root_), 600'000U * 1024);
  write("sys/fs/cgroup/box/memory.max", "50000\n");
  write("sys/fs/cgroup/box/memory.current", "20000\n");
  EXPECT_EQ(available_memory(root_), 30'000U);
  write("sys/fs/cgroup/box/memory.current", "60000\n");
  EXPECT_EQ(available_memory(root_), 0U);
}

TEST_F(AvailableMemory, IsKnownOnThisMachine) {
  EXPECT_GT(available_memory().value_or(0), 0U);
}

}  // namespace
}  // namespace sluice::packet

// Tests of the request for transparent huge pages: its effect on a mapping, and the kernel's setting.
#include "dataplane/packet/huge_pages.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::packet {
namespace {

/// Setting of the kernel, written by the test.
class GrantsHugePages : public testing::Test {
 protected:
  GrantsHugePages() {
    std::string path = (std::filesystem::temp_directory_path() / "sluice-pages-XXXXXX").string();
    root_ = mkdtemp(path.data());
  }
  ~GrantsHugePages() override { std::filesystem::remove_all(root_); }

  void write(const std::string& setting) {
    std::filesystem::create_directories(root_ / "sys/kernel/mm/transparent_hugepage");
    std::ofstream(root_ / "sys/kernel/mm/transparent_hugepage/enabled") << setting << "\n";
  }

  std::filesystem::path root_;
};

TEST_F(GrantsHugePages, IsFalseWithoutSupportOfTheKernel) {
  EXPECT_FALSE(grants_huge_pages(root_));
}

TEST_F(GrantsHugePages, IsTrueIfTheyAreAlwaysUsedOrRequested) {
  for (const char* setting : {"[always] madvise never", "always [madvise] never"}) {
    write(setting);
    EXPECT_TRUE(grants_huge_pages(root_)) << setting;
  }
}

TEST_F(GrantsHugePages, IsFalseIfTheyAreSwitchedOff) {
  write("always madvise [never]");
  EXPECT_FALSE(grants_huge_pages(root_));
}

}  // namespace
}  // namespace sluice::packet

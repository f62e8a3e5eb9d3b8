#include "emulator/provenance/kept_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "emulator/provenance/result_archive.hpp"
#include "emulator/report/results_csv.hpp"
#include "tests/unit/provenance/samples.hpp"

namespace sluice::emulator {
namespace {

namespace fs = std::filesystem;

class KeptRunsTest : public testing::Test {
 protected:
  KeptRunsTest() { fs::remove_all(folder_); }
  ~KeptRunsTest() override { fs::remove_all(folder_); }

  const RunResult result_ = test::full_result();
  const RunPlan plan_ = test::plan_of(result_);
  const fs::path folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  KeptRuns kept_{folder_, "program and inputs", "sample"};
};

TEST_F(KeptRunsTest, ARunIsFoundAgain) {
  EXPECT_FALSE(kept_.find(plan_));
  kept_.keep(plan_, result_);
  KeptRuns later(folder_, "program and inputs", "sample");
  const auto found = later.find(plan_);
  ASSERT_TRUE(found);
  EXPECT_EQ(archive(*found), archive(result_));
  EXPECT_EQ(later.machines(), std::set{this_machine()});
  EXPECT_TRUE(later.refused().empty());
}

TEST_F(KeptRunsTest, AnotherProgramPointOrSeedIsAnotherRun) {
  kept_.keep(plan_, result_);
  EXPECT_FALSE(KeptRuns(folder_, "another program", "sample").find(plan_));
  RunPlan other = plan_;
  ++other.seed;
  EXPECT_FALSE(kept_.find(other));
  other = plan_;
  ++other.point;
  EXPECT_FALSE(kept_.find(other));
}

TEST_F(KeptRunsTest, ATruncatedFileIsRefused) {
  kept_.keep(plan_, result_);
  const fs::path file = folder_ / kept_.name_of(plan_);
  const std::string bytes = read_file(file);
  std::string changed = bytes;
  changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] + 1);
  for (const std::string& broken : {std::string(), std::string("text"), bytes.substr(0, bytes.size() - 1), changed}) {
    write_file(file, broken);
    KeptRuns later(folder_, "program and inputs", "sample");
    EXPECT_FALSE(later.find(plan_));
    EXPECT_THAT(later.refused(), testing::ElementsAre(testing::StartsWith(file.string())));
  }
}

TEST_F(KeptRunsTest, ARunUnderTheNameOfAnotherIsRefused) {
  kept_.keep(plan_, result_);
  RunPlan other = plan_;
  ++other.seed;
  fs::rename(folder_ / kept_.name_of(plan_), folder_ / kept_.name_of(other));
  EXPECT_FALSE(kept_.find(other));
  EXPECT_THAT(kept_.refused(), testing::ElementsAre(testing::EndsWith("is another run")));
}

}  // namespace
}  // namespace sluice::emulator

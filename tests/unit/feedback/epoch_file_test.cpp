#include "control/feedback/epoch_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sluice::control::feedback {
namespace {

class EpochFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sluice-epoch-" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    file_ = folder_ + "/epoch";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  [[nodiscard]] std::string text() const {
    std::stringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::string file_;
};

TEST_F(EpochFile, TheFirstEpochIsTheClock) {
  EXPECT_EQ(begin_epoch(file_, 1'700'000'000'000'000'000), 1'700'000'000'000'000'000U);
  EXPECT_EQ(text(), "1700000000000000000\n");
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
  EXPECT_EQ(std::filesystem::status(file_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(EpochFile, EpochsGrowEvenIfTheClockGoesBack) {
  EXPECT_EQ(begin_epoch(file_, 1000), 1000U);
  EXPECT_EQ(begin_epoch(file_, 2000), 2000U);
  EXPECT_EQ(begin_epoch(file_, 5), 2001U) << "the clock has gone back";
  EXPECT_EQ(begin_epoch(file_, 2001), 2002U) << "it stands still";
  EXPECT_EQ(begin_epoch(file_, 0), 2003U);
  EXPECT_EQ(begin_epoch(file_, 9000), 9000U) << "it is right again";
}

TEST_F(EpochFile, AFileWithoutAnEpochIsRefusedAndNotChanged) {
  for (const char* wrong : {"", "x\n", "12", "12 \n", "-1\n", "12\n13\n", "18446744073709551615\n",
                            "99999999999999999999999999999999999999\n"}) {
    write(wrong);
    EXPECT_THROW(static_cast<void>(begin_epoch(file_, 1000)), std::runtime_error) << wrong;
    EXPECT_EQ(text(), wrong);
  }
}

TEST_F(EpochFile, AMissingFolderIsReported) {
  try {
    static_cast<void>(begin_epoch(folder_ + "/none/epoch", 1000));
    ADD_FAILURE() << "it was written";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/none/epoch: cannot be written: No such file or directory"));
  }
}

}  // namespace
}  // namespace sluice::control::feedback

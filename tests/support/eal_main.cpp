#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_eal.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/eal.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<packet::PacketPool>& pool_slot() {
  static std::unique_ptr<packet::PacketPool> slot;
  return slot;
}

/// Every test gives back every buffer it took.
class LeakCheck : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { before_ = pool().in_use(); }
  void OnTestEnd(const testing::TestInfo& info) override {
    if (!info.result()->Skipped() && pool().in_use() != before_) {
      ADD_FAILURE() << "packet buffers leaked: " << before_ << " in use before the test, " << pool().in_use()
                    << " after";
    }
  }
  std::uint32_t before_ = 0;
};

}  // namespace

packet::PacketPool& pool() {
  return *pool_slot();
}

}  // namespace sluice::test

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  std::string runtime = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
  if (mkdtemp(runtime.data()) == nullptr) return 1;
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  std::array<std::string, 9> words = {argv[0], "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",
                                      "-m",    "256",       "--log-level=3", "-l0"};
  std::array<char*, words.size()> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
    std::fprintf(stderr, "EAL did not start\n");
    return 1;
  }
  sluice::test::pool_slot() = std::make_unique<sluice::packet::PacketPool>("test", 16384);
  testing::UnitTest::GetInstance()->listeners().Append(new sluice::test::LeakCheck);
  const int result = RUN_ALL_TESTS();
  sluice::test::pool_slot().reset();
  // DPDK's memory is left to exit: its interrupt thread goes on reading it.
  std::filesystem::remove_all(runtime);
  return result;
}

#include "dataplane/dpdk/fault_guard.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>

#include <thread>

namespace sluice::dpdk {
namespace {

/// A page that faults when it is touched.
class ForbiddenPage {
 public:
  ForbiddenPage() : page_(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~ForbiddenPage() { munmap(page_, 4096); }
  ForbiddenPage(const ForbiddenPage&) = delete;
  ForbiddenPage& operator=(const ForbiddenPage&) = delete;
  [[nodiscard]] volatile int* address() const { return static_cast<volatile int*>(page_); }

 private:
  void* page_;
};

TEST(FaultGuard, ACallWithoutFaultRunsToItsEnd) {
  FaultGuard::install();
  int value = 0;
  EXPECT_TRUE(FaultGuard::run([&] { value = 7; }));
  EXPECT_EQ(value, 7);
}

TEST(FaultGuard, EveryFaultEndsItsCall) {
  FaultGuard::install();
  const ForbiddenPage page;
  for (int i = 0; i < 100; ++i) {
    volatile int reached = 0;
    EXPECT_FALSE(FaultGuard::run([&] {
      reached = 1;
      *page.address() = 1;
      reached = 2;
    }));
    EXPECT_EQ(reached, 1);
  }
}

TEST(FaultGuard, ThreadsAreGuardedSeparately) {
  FaultGuard::install();
  const ForbiddenPage page;
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_FALSE(FaultGuard::run([&] { *page.address() = 1; }));
      ASSERT_TRUE(FaultGuard::run([] {}));
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(FaultGuardDeathTest, AFaultOutsideTheGuardEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FaultGuard::install();
        const ForbiddenPage page;
        EXPECT_FALSE(FaultGuard::run([&] { *page.address() = 1; }));
        *page.address() = 1;
      },
      "");
}

}  // namespace
}  // namespace sluice::dpdk

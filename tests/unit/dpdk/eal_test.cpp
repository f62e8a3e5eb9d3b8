// Tests of the start of DPDK's EAL without root and hugepages: threads, affinity, log lines and drivers.
#include "dataplane/dpdk/eal.hpp"

#include <gmock/gmock.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "dataplane/packet/pool.hpp"
#include "tests/support/mapped_memory.hpp"

namespace sluice::dpdk {
namespace {

struct LogLine {
  unsigned level;
  std::string text;
};

/// Starts EAL once for all tests of this binary.
class EalTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    pthread_getaffinity_np(pthread_self(), sizeof affinity_before(), &affinity_before());
    EalConfig config;
    config.memory_mib = 64;
    config.log = [](unsigned level, std::string_view line) {
      const std::lock_guard lock(mutex());
      lines().push_back({level, std::string(line)});
    };
    config.log_level = 5;
    eal().emplace(config);
  }
  static void TearDownTestSuite() { eal().reset(); }

  static std::optional<Eal>& eal() {
    static std::optional<Eal> instance;
    return instance;
  }
  static cpu_set_t& affinity_before() {
    static cpu_set_t set;
    return set;
  }
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::vector<LogLine>& lines() {
    static std::vector<LogLine> instance;
    return instance;
  }
};

TEST_F(EalTest, StartsWithoutRootOrHugepages) {
  EXPECT_EQ(rte_eal_has_hugepages(), 0);
  EXPECT_THAT(eal()->arguments(), testing::Contains("--no-huge"));
}

TEST_F(EalTest, HugePagesAreRequestedForPacketBuffers) {
  packet::PacketPool pool("advised", 4096);
  const packet::Packet packet = pool.allocate();
  const test::Mapping mapping = test::mapping_of(packet.data());
  ASSERT_TRUE(mapping.found);
  EXPECT_EQ(mapping.file, "") << "the kernel gives a memory file no huge pages";
  EXPECT_TRUE(mapping.advised);
}

TEST_F(EalTest, OtherMemoryFilesCanStillBeCreated) {
  const int descriptor = memfd_create("nohuge", 0);
  EXPECT_GE(descriptor, 0);
  close(descriptor);
}

TEST_F(EalTest, TheCallersAffinityIsLeftAlone) {
  cpu_set_t now;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&now, &affinity_before()));
}

TEST_F(EalTest, ASecondStartIsRefused) {
  EXPECT_THROW(Eal(EalConfig{}), std::runtime_error);
}

TEST_F(EalTest, LogLinesArriveWholeAndByLevel) {
  {
    const std::lock_guard lock(mutex());
    lines().clear();
  }
  RTE_LOG(ERR, USER1, "first half, ");
  RTE_LOG(ERR, USER1, "second half\nnext line\n");
  RTE_LOG(DEBUG, USER1, "too talkative\n");
  const std::lock_guard lock(mutex());
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[0].level, 4U);
  EXPECT_THAT(lines()[0].text, testing::AllOf(testing::HasSubstr("first half"), testing::HasSubstr("second half")));
  EXPECT_EQ(lines()[1].text, "next line");
}

TEST_F(EalTest, ThreadsRegisterAndUnregister) {
  std::thread([] {
    EXPECT_EQ(rte_lcore_id(), LCORE_ID_ANY);
    {
      const ThreadRegistration registration;
      EXPECT_TRUE(registration.registered());
      EXPECT_NE(rte_lcore_id(), LCORE_ID_ANY);
    }
    EXPECT_EQ(rte_lcore_id(), LCORE_ID_ANY);
  }).join();
}

TEST_F(EalTest, APollThreadGetsRealTimePriorityIfAllowedAndItsChildrenDoNot) {
  std::thread([] {
    const auto own_policy = [] { return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; };
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_RTPRIO, &limit), 0);
    const bool allowed = geteuid() == 0 || limit.rlim_cur >= 1;
    EXPECT_EQ(take_real_time_priority(), allowed);
    EXPECT_EQ(own_policy(), allowed ? SCHED_FIFO : SCHED_OTHER);
    std::thread([&] { EXPECT_EQ(own_policy(), SCHED_OTHER); }).join();
  }).join();
}

TEST_F(EalTest, PinningToAMissingProcessorFails) {
  std::thread([] {
    EXPECT_FALSE(pin_to_cpu(1023));
    EXPECT_FALSE(pin_to_cpu(100000));
    EXPECT_TRUE(pin_to_cpu(static_cast<unsigned>(sched_getcpu())));
  }).join();
}

TEST_F(EalTest, EveryVirtualDriverIsAvailable) {
  // What the deployments use without hardware; af_packet, af_xdp and tap are tried where there is a kernel interface.
  packet::PacketPool pool("drivers", 4096);
  for (const char* const device :
       {"net_null0", "net_ring0", "net_memif0,role=server,socket-abstract=yes,socket=@sluice"}) {
    PortConfig config;
    config.device = device;
    // Another run of this test on the same machine must not find its name taken.
    if (config.device.ends_with("@sluice")) config.device += std::to_string(getpid());
    EXPECT_NO_THROW(Port(config, pool)) << device;
  }
}

/// Starts EAL for memory that a peer maps, and ends with 0 if that memory is a file.
[[noreturn]] void start_with_shared_memory() {
  EalConfig config;
  config.shared_memory = true;
  const Eal eal(config);
  packet::PacketPool pool("shared", 1024);
  const packet::Packet packet = pool.allocate();
  std::_Exit(test::mapping_of(packet.data()).file.find("memfd:nohuge") != std::string::npos ? 0 : 1);
}

TEST(EalEnd, MemoryThatAPeerMapsStaysAFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_with_shared_memory(), testing::ExitedWithCode(0), "");
}

/// Starts EAL with more memory than the machine has, and ends with 0 if it starts nevertheless.
[[noreturn]] void start_with_too_much_memory() {
  EalConfig config;
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(getpagesize());
  config.memory_mib = static_cast<std::uint32_t>(2 * machine >> 20U);
  const Eal eal(config);
  std::_Exit(0);
}

TEST(EalEnd, MoreMemoryThanTheMachineHasIsNoObstacleToTheStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_with_too_much_memory(), testing::ExitedWithCode(0), "");
}

/// A short life with a port whose driver watches file descriptors in DPDK's interrupt thread.
[[noreturn]] void start_and_end_at_once() {
  {
    const Eal eal(EalConfig{});
    packet::PacketPool pool("short", 1024);
    PortConfig config;
    config.device = "net_memif0,role=server,socket-abstract=yes,socket=@sluice-end" + std::to_string(getpid());
    const Port port(config, pool);
  }
  std::_Exit(0);
}

TEST(EalEnd, APortClosedJustBeforeTheEndIsHarmless) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // each in a process of its own
  for (int i = 0; i < 20; ++i) EXPECT_EXIT(start_and_end_at_once(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice::dpdk

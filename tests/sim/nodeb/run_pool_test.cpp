// The packet buffers of virtual-time runs: they are made when they are needed, and a run that needs more than there may
// be does not give a result.

#include "emulator/runtime/run_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<packet::Packet> take(RunPool& pool, std::uint32_t count) {
  std::vector<packet::Packet> taken;
  for (std::uint32_t i = 0; i < count; ++i) {
    packet::Packet packet = pool.packets().allocate();
    if (!packet) break;
    std::memcpy(packet.append(sizeof i), &i, sizeof i);
    taken.push_back(std::move(packet));
  }
  return taken;
}

std::string problem_of(const RunPool& pool) {
  try {
    pool.require_enough();
  } catch (const BuffersExhausted& problem) {
    return problem.what();
  }
  return {};
}

TEST(RunPool, AllocatesBuffersOnDemand) {
  RunPool pool("growing", 100'000);
  EXPECT_LT(pool.made(), 5000U);
  EXPECT_EQ(pool.packets().capacity(), 100'000U);
  EXPECT_EQ(pool.packets().available(), 100'000U);
  {
    const std::vector<packet::Packet> taken = take(pool, 60'000);
    ASSERT_EQ(taken.size(), 60'000U);
    for (std::uint32_t i = 0; i < taken.size(); ++i) {
      std::uint32_t number = 0;
      std::memcpy(&number, taken[i].data(), sizeof number);
      ASSERT_EQ(number, i) << "two packets share a buffer";
      ASSERT_EQ(taken[i].headroom(), 128U);
      ASSERT_GE(taken[i].tailroom(), packet::PacketPool::default_room - sizeof number);
    }
    EXPECT_EQ(pool.in_use(), 60'000U);
    EXPECT_EQ(pool.packets().available(), 40'000U);
    EXPECT_GE(pool.made(), 60'000U);
  }
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.packets().available(), 100'000U);
  const std::uint32_t made = pool.made();
  EXPECT_EQ(take(pool, 60'000).size(), 60'000U);
  EXPECT_EQ(pool.made(), made) << "buffers that were given back are used again";
  EXPECT_EQ(problem_of(pool), "");
}

TEST(RunPool, AllocatesUpToTheLimitAndNamesIt) {
  for (const std::uint32_t limit : {1U, 1024U, 4096U, 4097U, 30'000U}) {
    SCOPED_TRACE(limit);
    RunPool pool("limited", limit);
    {
      const std::vector<packet::Packet> taken = take(pool, limit);
      ASSERT_EQ(taken.size(), limit);
      EXPECT_EQ(pool.packets().available(), 0U);
      EXPECT_EQ(problem_of(pool), "") << "all are in use, and no more was wanted";
      EXPECT_FALSE(pool.packets().allocate());
      EXPECT_THAT(problem_of(pool), AllOf(HasSubstr("all " + std::to_string(limit) + " packet buffers are in use"),
                                          HasSubstr("a higher value of buffers in the scenario")));
    }
    EXPECT_THAT(problem_of(pool), HasSubstr("a higher value of buffers")) << "the run has been without one";
    pool.begin_run();
    EXPECT_EQ(problem_of(pool), "");
    EXPECT_EQ(take(pool, limit).size(), limit);
    EXPECT_EQ(problem_of(pool), "");
  }
}

TEST(RunPool, LeavesOtherPoolsAsTheyAre) {
  RunPool growing("first", 10'000);
  packet::PacketPool fixed("second", 2000);
  std::vector<packet::Packet> taken;
  for (packet::Packet packet = fixed.allocate(); packet; packet = fixed.allocate()) taken.push_back(std::move(packet));
  EXPECT_EQ(taken.size(), 2000U);
  EXPECT_EQ(problem_of(growing), "");
}

TEST(RunPool, AProxyThatSavesBuffersReportsANearLimit) {
  RunPool pool("spared", 10'000);
  pool.require_enough_for(1);  // the proxy saves buffers by configuration: nearly all are left
  static_cast<void>(take(pool, 6000));
  pool.require_enough_for(0);
  EXPECT_THROW(pool.require_enough_for(1), BuffersExhausted);
}

RunPlan downloads(const std::string& mode, const std::string& more) {
  std::string text = "duration: 12s\nwarmup: 4s\nmodes: [" + mode + "]\n" + more +
                     "hosts: {receive_buffer: 4MiB, send_buffer: 4MiB, tcp: {congestion: newreno}}\n"
                     "apps: [{type: bulk, ues: 20}]\ncell:\n  ues:\n";
  for (int i = 0; i < 20; ++i) {
    text += "    - {address: 10.45.0." + std::to_string(i + 2) +
            ", frame: 0B, buffer: unlimited, channel: {type: constant, rate: 200Mb/s}}\n";
  }
  auto plan = parse_plan(text, "test.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  return plan->runs.front();
}

// Twenty windows of 4 MiB are twice 58 000 packets, in the sender and in the queue.
TEST(RunPool, WindowsLargerThanTheFirstBuffersAreFilled) {
  for (const char* mode : {"none", "i-tcp"}) {
    SCOPED_TRACE(mode);
    const RunPlan plan = downloads(mode, {});
    RunPool pool("windows", plan.scenario.buffers);
    TraceLibrary traces({});
    const RunResult result = run_virtual(plan, "test", pool, traces);
    EXPECT_GT(result.utilisation, 0.999);
    EXPECT_GT(result.jain, 0.99);
    EXPECT_EQ(pool.in_use(), 0U);
    EXPECT_GT(pool.made(), RunPool::begins_with(plan.scenario.buffers));
  }
}

TEST(RunPool, ARunWithoutEnoughBuffersGivesNoResult) {
  for (const char* mode : {"none", "i-tcp", "smvs", "wrb/regulate"}) {
    SCOPED_TRACE(mode);
    const RunPlan plan = downloads(mode, "buffers: 1024\nserver_proxy: {delay: 100ms}\n");
    RunPool pool("short", plan.scenario.buffers);
    TraceLibrary traces({});
    try {
      static_cast<void>(run_virtual(plan, "test", pool, traces));
      ADD_FAILURE() << "the run ended without an error";
    } catch (const BuffersExhausted& problem) {
      EXPECT_THAT(problem.what(), AllOf(HasSubstr("mode " + std::string(mode) + ", seed 1: before "),
                                        HasSubstr("a higher value of buffers in the scenario")));
    }
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

}  // namespace
}  // namespace sluice::emulator

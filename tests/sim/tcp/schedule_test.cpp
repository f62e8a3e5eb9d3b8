#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/tcp/random_scenario.hpp"

// Tests of connections over paths that change all the time: loss, reordering, duplication, marks, jumps of the delay,
// stalls, and a smaller MTU for some time. Connection checks every byte and every invariant at each step.
// SLUICE_SCHEDULE_SEGMENTS sets how many segments suffice (./run soak: ten million); SLUICE_FIRST_SEED replays.

namespace sluice::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Schedule, EveryByteArrivesAndEveryInvariantHolds) {
  const std::uint64_t enough = from_environment("SLUICE_SCHEDULE_SEGMENTS", 2'000'000);
  const std::uint64_t first = from_environment("SLUICE_FIRST_SEED", 1'000'000);
  std::uint64_t segments = 0;
  std::uint64_t seed = first;
  for (; segments < enough; ++seed) {
    SCOPED_TRACE("replay with SLUICE_SCHEDULE_SEGMENTS=1 SLUICE_FIRST_SEED=" + std::to_string(seed));
    Scenario scenario = random_scenario(seed);
    scenario.path_changes = std::chrono::milliseconds(1500);
    const std::uint32_t held = pool().in_use();
    Connection connection(scenario);
    connection.run();
    segments += connection.segments_sent();
    if (HasFailure()) return;
    ASSERT_EQ(connection.received_by_b(), scenario.a.to_send);
    ASSERT_EQ(connection.received_by_a(), scenario.b.to_send);
    ASSERT_EQ(pool().in_use(), held) << "packets leaked";
  }
  RecordProperty("segments", std::to_string(segments));
  RecordProperty("seeds", std::to_string(first) + " to " + std::to_string(seed - 1));
}

}  // namespace
}  // namespace sluice::test

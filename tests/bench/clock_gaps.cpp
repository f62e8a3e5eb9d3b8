// What the machine itself takes: threads of real-time priority that do nothing but read the clock, and the TTIs by
// which they would have been late. Beside nodeb's own, these tell what is the program's. clock_gaps SECONDS TTI_US
// THREADS Prints a line: TTIs missed, TTIs seen, and the longest time in us for which a thread could not read the
// clock. A thread sleeps for a ninth of the time, since Linux takes the processor from one of real-time priority that
// never does (sched(7), sched_rt_runtime_us); it sees no TTI meanwhile.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/thread_priority.hpp"

namespace {

using namespace sluice;

constexpr Duration awake = std::chrono::milliseconds(8);
constexpr Duration asleep = std::chrono::milliseconds(1);

struct Gaps {
  std::uint64_t missed = 0;
  std::uint64_t seen = 0;
  Duration longest{};
};

/// Reads the clock in a loop until `until`. A TTI that is noticed late by n whole TTIs counts as n missed ones.
void watch(Instant until, Duration tti, Gaps& gaps) {
  Instant last = dpdk::now();
  Instant due = last + tti;
  for (Instant now = last; now < until; last = now) {
    now = dpdk::now();
    gaps.longest = std::max(gaps.longest, now - last);
    if (now < due) continue;
    const auto late = static_cast<std::uint64_t>((now - due) / tti);
    gaps.missed += late;
    gaps.seen += 1 + late;
    due += tti * static_cast<std::int64_t>(1 + late);
  }
}

void run(Instant end, Duration tti, Gaps& gaps) {
  if (!dpdk::take_real_time_priority()) {
    std::fprintf(stderr, "clock_gaps: real-time priority is not allowed (CAP_SYS_NICE)\n");
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): nothing needs to be put in order
  }
  while (dpdk::now() < end) {
    watch(std::min(end, dpdk::now() + std::max(awake, 4 * tti)), tti, gaps);
    std::this_thread::sleep_for(asleep);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc == 4 ? std::strtod(argv[1], nullptr) : 0;
  const std::int64_t tti_us = argc == 4 ? std::strtoll(argv[2], nullptr, 10) : 0;
  const std::uint64_t threads = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (!(seconds > 0 && seconds < 86'400) || tti_us <= 0 || tti_us > 1'000'000 || threads == 0 || threads > 64) {
    std::fprintf(stderr, "usage: clock_gaps SECONDS TTI_US THREADS\n");
    return 2;
  }
  const Instant end = dpdk::now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  std::vector<Gaps> of_each(threads);
  {
    std::vector<std::jthread> running;
    for (Gaps& gaps : of_each) running.emplace_back(run, end, std::chrono::microseconds(tti_us), std::ref(gaps));
  }
  Gaps all;
  for (const Gaps& gaps : of_each) {
    all.missed += gaps.missed;
    all.seen += gaps.seen;
    all.longest = std::max(all.longest, gaps.longest);
  }
  std::printf("%llu %llu %lld\n", static_cast<unsigned long long>(all.missed),
              static_cast<unsigned long long>(all.seen),
              static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(all.longest).count()));
  return 0;
}

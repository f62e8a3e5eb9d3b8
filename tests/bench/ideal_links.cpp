// What an ideal sender makes of one link, for a grid of settings: a line of CSV for each. ./run bench links chooses.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool.hpp"
#include "tests/bench/ideal_sender.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

/// Returns the scale of a reference in ms. It is the longest of a radio's shortest round trip, the link's own and the
/// time of a full packet at the mean rate.
double scale_ms(const IdealLink& link) {
  double bytes = 0;
  for (const std::int64_t each : link.capacity) bytes += static_cast<double>(each);
  const double packet = 1500 * static_cast<double>(link.duration()) / std::max(bytes, 1500.0);
  return std::max({20.0, 2 * static_cast<double>(link.way), packet});
}

std::vector<IdealSetting> grid(double scale) {
  std::vector<IdealSetting> settings;
  for (const Milliseconds memory : {40, 80, 160}) {
    for (const double share : {0.0, 0.25, 0.5, 1.0, 1.5, 2.5}) {
      for (const Milliseconds longest : {20, 60}) {
        for (const double gain : {0.95, 1.05, 1.2})
          settings.push_back({memory, static_cast<Milliseconds>(share * scale), longest, gain});
      }
    }
  }
  return settings;
}

void explore(const IdealLink& link) {
  dpdk::EalConfig config;
  config.program = "ideal_links";
  config.memory_mib = 256;
  const dpdk::Eal eal(config);
  packet::PacketPool pool("bench", 16'384);
  std::printf("memory_ms,reference_ms,longest_ms,gain,use,p95_ms,scale_ms\n");
  const double scale = scale_ms(link);
  for (const IdealSetting& setting : grid(scale)) {
    const IdealOutcome outcome = ideal_sender(pool, link, Feedback::by_acks, setting);
    std::printf("%lld,%lld,%lld,%.2f,%.2f,%.0f,%.1f\n", static_cast<long long>(setting.memory),
                static_cast<long long>(setting.reference), static_cast<long long>(setting.longest), setting.gain,
                outcome.use, outcome.p95_ms, scale);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string uplink = argc == 6 ? argv[4] : "";
  if (uplink != "scheduled" && uplink != "free") {
    std::fputs("usage: ideal_links TRACE TTI_MS WAY_MS scheduled|free SECONDS\n", stderr);
    return 2;
  }
  try {
    IdealLink link{
        .capacity = {}, .tti = std::stoll(argv[2]), .way = std::stoll(argv[3]), .scheduled = uplink == "scheduled"};
    const Milliseconds duration = 1000 * std::stoll(argv[5]);
    if (link.tti < 1 || link.tti > 100 || link.way < 0 || link.way > 10'000 || duration <= link.warmup ||
        duration > 3'600'000) {
      std::fputs("ideal_links: a TTI of 1 to 100 ms, a way of 0 to 10000 ms, 6 to 3600 seconds\n", stderr);
      return 2;
    }
    link.capacity = capacities(argv[1], link.tti, duration);
    explore(link);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ideal_links: %s\n", problem.what());
    return 1;
  }
  return 0;
}

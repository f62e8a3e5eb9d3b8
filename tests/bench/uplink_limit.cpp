// Computes the use that an ideal sender makes of three recorded links if it receives only ACKs over the emulator's
// scheduled uplink. The reference is a sender that learns of every byte at once. Each result is the best of a grid of
// settings.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool.hpp"
#include "tests/bench/ideal_sender.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

constexpr Milliseconds duration = 300'000;

struct Link {
  std::string trace;
  double use;     ///< required utilisation in per cent
  double p95_ms;  ///< required p95 delay in ms
};
const std::array links{Link{"Verizon-LTE-short.down", 95, 60}, Link{"TMobile-UMTS-driving.down", 95, 70},
                       Link{"ATT-LTE-driving.down", 98, 45}};

std::vector<IdealSetting> grid() {
  std::vector<IdealSetting> settings;
  for (const Milliseconds memory : {40, 60, 80, 120, 160}) {
    for (const Milliseconds reference : {0, 5, 10, 15, 20, 25, 30}) {
      for (const Milliseconds longest : {10, 20, 30, 50, 70}) {
        for (const double gain : {0.9, 1.0, 1.1, 1.2, 1.3}) settings.push_back({memory, reference, longest, gain});
      }
    }
  }
  return settings;
}

/// Returns the missing utilisation if the delay is as required; a large value if it is not.
double shortfall(const IdealOutcome& outcome, const Link& link) {
  return link.use - outcome.use + (outcome.p95_ms > link.p95_ms ? 1000 : 0);
}

void print(const char* what, const IdealSetting& setting, const std::vector<IdealOutcome>& outcomes) {
  std::printf("  %-22s", what);
  for (const IdealOutcome& outcome : outcomes) std::printf("  %5.1f %% %4.0f ms", outcome.use, outcome.p95_ms);
  std::printf("   memory %lld ms, reference %lld ms, longest %lld ms, gain %.1f\n",
              static_cast<long long>(setting.memory), static_cast<long long>(setting.reference),
              static_cast<long long>(setting.longest), setting.gain);
}

void explore(packet::PacketPool& pool, const std::vector<IdealLink>& recorded, Feedback feedback) {
  const std::vector<IdealSetting> settings = grid();
  std::vector<std::vector<IdealOutcome>> outcomes;
  for (const IdealSetting& setting : settings) {
    outcomes.emplace_back();
    for (const IdealLink& link : recorded) outcomes.back().push_back(ideal_sender(pool, link, feedback, setting));
  }
  const auto worst = [&](std::size_t i) {
    double most = -1000;
    for (std::size_t link = 0; link < links.size(); ++link)
      most = std::max(most, shortfall(outcomes[i][link], links.at(link)));
    return most;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < settings.size(); ++i) best = worst(i) < worst(best) ? i : best;
  print("one setting", settings[best], outcomes[best]);
  for (std::size_t link = 0; link < links.size(); ++link) {
    std::size_t own = 0;
    for (std::size_t i = 1; i < settings.size(); ++i) {
      const bool better = shortfall(outcomes[i][link], links.at(link)) < shortfall(outcomes[own][link], links.at(link));
      own = better ? i : own;
    }
    print(("best for link " + std::to_string(link + 1)).c_str(), settings[own], outcomes[own]);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: uplink_limit FOLDER_OF_TRACES\n", stderr);
    return 2;
  }
  dpdk::EalConfig config;
  config.program = "uplink_limit";
  config.memory_mib = 256;
  const dpdk::Eal eal(config);
  packet::PacketPool pool("bench", 16'384);
  std::vector<IdealLink> recorded;
  std::printf("wanted                  ");
  for (const Link& link : links) {
    recorded.push_back({.capacity = capacities(std::string(argv[1]) + "/" + link.trace, 1, duration)});
    std::printf("  %5.1f %% %4.0f ms", link.use, link.p95_ms);
  }
  std::printf("\nhears by acknowledgements:\n");
  explore(pool, recorded, Feedback::by_acks);
  std::printf("hears at once:\n");
  explore(pool, recorded, Feedback::at_once);
  return 0;
}

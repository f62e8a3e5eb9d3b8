// Measures the forwarding rate of a port without any inspection. A thread that never sleeps moves frames from one port
// to the other in bursts. This is the baseline for the proxy. Usage: plain_forwarder DEVICE DEVICE. SIGTERM ends it;
// then it prints how many frames it has moved and how many the other port refused.

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"

namespace {

using namespace sluice;

volatile std::sig_atomic_t stopped = 0;  // NOLINT: the only thing a signal handler may touch

struct Moved {
  std::uint64_t frames = 0;
  std::uint64_t refused = 0;
};

dpdk::PortConfig port_config(const char* device, dpdk::Facing facing) {
  dpdk::PortConfig config;
  config.device = device;
  config.facing = facing;
  return config;
}

void move(std::uint16_t from, std::uint16_t to, Moved& moved) {
  std::array<rte_mbuf*, 32> burst;
  const std::uint16_t count = rte_eth_rx_burst(from, 0, burst.data(), burst.size());
  if (count == 0) return;
  const std::uint16_t sent = rte_eth_tx_burst(to, 0, burst.data(), count);
  for (rte_mbuf* const left : std::span(burst).first(count).subspan(sent)) rte_pktmbuf_free(left);
  moved.frames += sent;
  moved.refused += static_cast<std::uint64_t>(count - sent);
}

void run(const char* a, const char* b) {
  dpdk::EalConfig eal_config;
  eal_config.program = "plain_forwarder";
  const dpdk::Eal eal(eal_config);
  packet::PacketPool pool("packets", 32'768);
  const dpdk::Port core(port_config(a, dpdk::Facing::core), pool);
  const dpdk::Port radio(port_config(b, dpdk::Facing::radio), pool);
  std::printf("ready\n");
  std::fflush(stdout);
  Moved moved;
  while (stopped == 0) {
    move(core.id(), radio.id(), moved);
    move(radio.id(), core.id(), moved);
  }
  std::printf("%llu frames, %llu not taken\n", static_cast<unsigned long long>(moved.frames),
              static_cast<unsigned long long>(moved.refused));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: plain_forwarder DEVICE DEVICE\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::signal(SIGINT, [](int) { stopped = 1; });
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "plain_forwarder: %s\n", problem.what());
    return 1;
  }
  return 0;
}

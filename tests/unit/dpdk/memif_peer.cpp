// A process at the other end of a memif: sends without pause and throws away what it gets, until it is killed.
// memif_peer DEVICE_ARGUMENTS
#include <array>
#include <cstdio>
#include <exception>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"

int main(int argc, char** argv) {
  using namespace sluice;
  if (argc != 2) return 2;
  try {
    dpdk::EalConfig config;
    config.memory_mib = 64;
    const dpdk::Eal eal(config);
    packet::PacketPool pool("peer", 4096);
    dpdk::PortConfig port_config;
    port_config.device = argv[1];
    dpdk::Port port(port_config, pool);
    std::array<packet::Packet, 32> burst;
    for (;;) {
      for (packet::Packet& packet : burst) {
        packet = pool.allocate();
        if (packet) packet.append(1400);
      }
      port.transmit(0, burst);
      const std::size_t count = port.receive(0, burst);
      for (std::size_t i = 0; i < count; ++i) burst[i].reset();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memif_peer: %s\n", error.what());
    return 1;
  }
}

// A process at the other end of a memif: sends without pause and throws away what it gets, until it is killed. With two
// devices, both ends of one memif: opens them, waits until they are connected, closes them and ends.
// memif_peer DEVICE_ARGUMENTS [DEVICE_ARGUMENTS]
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"

int main(int argc, char** argv) {
  using namespace sluice;
  if (argc != 2 && argc != 3) return 2;
  try {
    dpdk::EalConfig config;
    config.memory_mib = 64;
    const dpdk::Eal eal(config);
    packet::PacketPool pool("peer", 4096);
    dpdk::PortConfig port_config;
    port_config.device = argv[1];
    dpdk::Port port(port_config, pool);
    if (argc == 3) {
      port_config.device = argv[2];
      dpdk::Port other(port_config, pool);
      std::array<packet::Packet, 32> burst;
      for (int i = 0; i < 5000 && !(port.link_up() && other.link_up()); ++i) {
        static_cast<void>(port.receive(0, burst) + other.receive(0, burst));
        usleep(1000);
      }
      return port.link_up() && other.link_up() ? 0 : 3;
    }
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

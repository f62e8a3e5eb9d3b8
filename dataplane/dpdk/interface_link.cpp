#include "dataplane/dpdk/interface_link.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sluice::dpdk {

Link interface_link(const std::string& name) noexcept {
  const int asking = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (asking < 0) return Link::up;  // without a descriptor, no problem is known
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const bool known = ioctl(asking, SIOCGIFFLAGS, &request) == 0;
  close(asking);
  if (!known) return Link::absent;
  constexpr int running = IFF_UP | IFF_RUNNING;
  return (request.ifr_flags & running) == running ? Link::up : Link::down;
}

std::optional<std::uint16_t> interface_mtu(const std::string& name) noexcept {
  const int asking = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (asking < 0) return std::nullopt;
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const bool known = ioctl(asking, SIOCGIFMTU, &request) == 0;
  close(asking);
  if (!known || request.ifr_mtu <= 0) return std::nullopt;
  return static_cast<std::uint16_t>(std::min<int>(request.ifr_mtu, UINT16_MAX));
}

unsigned interface_index(const std::string& name) noexcept {
  return if_nametoindex(name.c_str());
}

std::string rebind(std::span<const int> sockets, unsigned index) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  for (const int each : sockets) {
    if (bind(each, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return strerror(errno);
  }
  return {};
}

void receive_only_incoming(std::span<const int> sockets) noexcept {
  const int on = 1;
  for (const int each : sockets) setsockopt(each, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
}

}  // namespace sluice::dpdk

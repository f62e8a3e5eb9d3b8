#include "dataplane/dpdk/interface_claim.hpp"

#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

namespace sluice::dpdk {
namespace {

/// Returns the kernel's primary name of the interface; `name` may be an alternative name.
std::string listed_name(const std::string& name) {
  std::array<char, IF_NAMESIZE> listed{};
  const unsigned index = if_nametoindex(name.c_str());
  return index != 0 && if_indextoname(index, listed.data()) != nullptr ? std::string(listed.data()) : name;
}

}  // namespace

InterfaceClaim::InterfaceClaim(const std::string& interface)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const std::string listed = listed_name(interface);
  const std::string name = "sluice-serves-" + listed;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // a name that begins with NUL is abstract
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (socket_ >= 0 && bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0) return;
  const int error = errno;
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (error == EADDRINUSE) {
    throw std::runtime_error("interface " + listed +
                             " is already in use by the other port or by another sluice or nodeb in this network "
                             "namespace, so every frame would be forwarded twice; stop that program first");
  }
  throw std::runtime_error("interface " + listed + " cannot be claimed: " + strerror(error));
}

InterfaceClaim::~InterfaceClaim() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace sluice::dpdk

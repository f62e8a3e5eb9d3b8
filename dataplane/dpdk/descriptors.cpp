#include "dataplane/dpdk/descriptors.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace sluice::dpdk {
namespace {

/// Returns a socket's domain; -1 if the descriptor is no socket.
int domain_of(int descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 ? domain : -1;
}

/// True for a packet socket, an XDP socket or a TAP device.
bool receives_packets(int descriptor) {
  const int domain = domain_of(descriptor);
  if (domain >= 0) return domain == AF_PACKET || domain == AF_XDP;
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error) == "/dev/net/tun";
}

}  // namespace

std::vector<int> open_descriptors() {
  std::vector<int> result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename().string();
    int descriptor = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec == std::errc()) {
      result.push_back(descriptor);
    }
  }
  // The listing itself used a descriptor, which is closed by now.
  std::erase_if(result, [](int descriptor) { return fcntl(descriptor, F_GETFD) < 0; });
  std::ranges::sort(result);
  return result;
}

int new_packet_descriptor(const std::vector<int>& before) {
  int found = -1;
  for (const int descriptor : open_descriptors()) {
    if (!std::ranges::binary_search(before, descriptor) && receives_packets(descriptor)) found = descriptor;
  }
  return found;
}

std::vector<int> new_packet_sockets(const std::vector<int>& before) {
  std::vector<int> found = open_descriptors();
  std::erase_if(found, [&](int descriptor) {
    return std::ranges::binary_search(before, descriptor) || domain_of(descriptor) != AF_PACKET;
  });
  return found;
}

}  // namespace sluice::dpdk

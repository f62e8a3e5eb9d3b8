#include "dataplane/dpdk/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace sluice::dpdk {

void fill_random(std::span<std::uint8_t> octets) {
  // Up to 256 bytes are returned at once or not at all (getrandom(2)).
  if (getrandom(octets.data(), octets.size(), 0) != static_cast<ssize_t>(octets.size())) {
    throw std::system_error(errno, std::generic_category(), "the system provides no random numbers");
  }
}

}  // namespace sluice::dpdk

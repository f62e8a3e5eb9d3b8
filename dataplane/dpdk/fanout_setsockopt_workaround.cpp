#include "dataplane/dpdk/fanout_setsockopt_workaround.hpp"

#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

std::atomic<bool> keep_apart = false;
std::atomic<bool> groups = true;

/// The driver numbers its groups by process id xor interface index, which neighbouring processes on neighbouring
/// interfaces of one network namespace have in common; the kernel then refuses the second. Mixed with the process id
/// once more they differ. The queues of one port keep one group.
std::uint32_t group_of_this_process(std::uint32_t group) {
  return (group * 0x9e37U + static_cast<std::uint32_t>(getpid()) * 0x4e35U) & 0xffffU;
}

}  // namespace

namespace sluice::dpdk {

void keep_fragments_apart(bool in_groups) noexcept {
  keep_apart = true;
  groups = in_groups;
}

}  // namespace sluice::dpdk

// Replaces the C library's setsockopt() in the whole process (a program's own definition comes first), and so
// in the driver, to ask for another kind of group, without flags and with a number of its own, or to leave the option
// out. Everything else goes to the kernel as it is.
extern "C" int setsockopt(int descriptor, int level, int name, const void* value, socklen_t length) noexcept {
  std::uint32_t fanout = 0;
  if (level == SOL_PACKET && name == PACKET_FANOUT && length == sizeof fanout && keep_apart) {
    if (!groups) return 0;
    std::memcpy(&fanout, value, sizeof fanout);
    fanout = std::uint32_t{PACKET_FANOUT_CBPF} << 16U | group_of_this_process(fanout & 0xffffU);
    value = &fanout;
  }
  return static_cast<int>(syscall(SYS_setsockopt, descriptor, level, name, value, length));
}

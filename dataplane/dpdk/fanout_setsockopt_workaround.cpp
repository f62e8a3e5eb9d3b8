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

/// Returns a group number that is unique to this process; all queues of one port get the same number. `group` is the
/// driver's own number, which is process id xor interface index. Two processes on two interfaces may thus have the same
/// number, and the kernel then refuses the second group.
std::uint32_t group_of_this_process(std::uint32_t group) {
  return (group * 0x9e37U + static_cast<std::uint32_t>(getpid()) * 0x4e35U) & 0xffffU;
}

}  // namespace

namespace sluice::dpdk {

void override_fanout(bool in_groups) noexcept {
  keep_apart = true;
  groups = in_groups;
}

}  // namespace sluice::dpdk

// Replaces the C library's setsockopt() in the whole process, including the driver, because a program's own definition
// takes precedence. For PACKET_FANOUT it requests a BPF group without flags and with a unique number, or omits the
// option. All other calls go to the kernel unchanged.
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

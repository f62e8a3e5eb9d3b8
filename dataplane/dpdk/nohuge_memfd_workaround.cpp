#include "dataplane/dpdk/nohuge_memfd_workaround.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace {

/// Name of the memory file that DPDK creates if it starts without huge pages.
constexpr const char* name_of_dpdk = "nohuge";

std::atomic<bool> refuses_file = false;

}  // namespace

namespace sluice::dpdk {

PrivateMemory::PrivateMemory(bool wanted) noexcept {
  refuses_file = wanted;
}

PrivateMemory::~PrivateMemory() {
  refuses_file = false;
}

}  // namespace sluice::dpdk

// Replaces the C library's memfd_create() in the whole process, because a program's own definition takes precedence.
// All other calls go to the kernel unchanged, such as those of the memif driver.
extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  if (refuses_file && std::strcmp(name, name_of_dpdk) == 0) {
    errno = ENOSYS;
    return -1;
  }
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

// The SIGBUS handler and its table of mappings. The handler makes one system call, mmap(), for a mapping that is found
// by the address of the fault; any other fault goes to the handler that was there before, such as that of
// dpdk::FaultGuard. The table has atomic fields only, since a fault may come on any thread.
#include "proxy/recorder/file_mapping.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace sluice::capture {
namespace {

struct Slot {
  std::atomic<std::uintptr_t> begin = 0;  ///< 0: the slot is free
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> is_lost = false;
};
std::array<Slot, FileMapping::most> table;
std::mutex table_mutex;  ///< held to take or free a slot, never by the handler

struct sigaction previous {};

bool replace(Slot& slot) {
  void* const begin = reinterpret_cast<void*>(slot.begin.load());
  const int error = errno;
  void* const memory = mmap(begin, slot.size.load(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  errno = error;
  return memory != MAP_FAILED;
}

void handle(int number, siginfo_t* information, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
  for (Slot& slot : table) {
    const std::uintptr_t begin = slot.begin.load();
    if (information->si_code <= 0 || begin == 0 || address < begin || address - begin >= slot.size.load()) continue;
    // Where another thread was first the memory is there already, and the store is only made again.
    if (slot.is_lost.exchange(true) || replace(slot)) return;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, information, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  sigaction(number, &previous, nullptr);  // the instruction faults again and meets it
}

/// SA_NODEFER because a previous handler may be left by a jump, which would leave the signal blocked.
void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, nullptr, &previous) != 0 || sigaction(SIGBUS, &action, nullptr) != 0)
      throw std::system_error(errno, std::generic_category(), "a handler of SIGBUS");
  });
}

}  // namespace

FileMapping::FileMapping(int descriptor, std::size_t size, bool populate) : descriptor_(descriptor), size_(size) {
  install();
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | (populate ? MAP_POPULATE : 0), descriptor, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot be mapped");
  data_ = static_cast<std::byte*>(memory);
  const std::lock_guard lock(table_mutex);
  for (std::size_t i = 0; i < table.size() && slot_ == most; ++i) {
    if (table.at(i).begin.load() == 0) slot_ = i;
  }
  if (slot_ == most) {
    munmap(data_, size_);
    throw std::runtime_error("cannot be mapped: too many files are");
  }
  Slot& slot = table.at(slot_);
  slot.size = size;
  slot.is_lost = false;
  slot.begin = reinterpret_cast<std::uintptr_t>(data_);
}

FileMapping::~FileMapping() {
  const std::lock_guard lock(table_mutex);
  table.at(slot_).begin = 0;
  munmap(data_, size_);
}

bool FileMapping::is_lost() const {
  Slot& slot = table.at(slot_);
  struct stat status {};
  if (slot.is_lost.load()) return true;
  if (fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= size_) return false;
  // What is left of the file is no longer written to: it may be made long again, with other contents.
  if (!slot.is_lost.exchange(true)) replace(slot);
  return true;
}

}  // namespace sluice::capture

// SIGBUS handler of mapped files and its table of mappings. A mapping is a small state machine: `whole` while it maps
// the file, `replacing` while one thread substitutes anonymous memory, then `replaced`. The handler finds a mapping
// by the fault address. The thread that moves the state to `replacing` does the work. Other threads that fault
// meanwhile wait a millisecond and retry the store. Any other fault goes to the previous handler, such as that of
// dpdk::FaultGuard. The handler makes only system calls (mmap, mremap, poll, write) and the table has only atomic
// fields, because a fault may occur on any thread.
#include "proxy/ops/capture/file_mapping.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace sluice::capture {
namespace {

/// State of a mapping of a file in the table that the SIGBUS handler searches.
enum class State : std::uint8_t {
  unused,  ///< no mapping uses the slot
  whole,   ///< the slot's memory is mapped from the file
  lost,    ///< a part of the mapped file is missing, and the kernel has not provided anonymous memory in its place yet
  replacing,  ///< a thread is replacing the mapping of the file by anonymous memory
  replaced,   ///< the slot's memory is anonymous memory, because a part of the file was missing
  failed      ///< the slot's memory could not be replaced, so the program is ending
};

/// Slot in the table of mappings. The low bits of its status word contain the state. The other bits contain a
/// generation number, which changes with each mapping. A thread with an old status can therefore not change the state
/// of a later mapping.
class Slot {
 public:
  using Status = std::uint64_t;

  [[nodiscard]] static State state_of(Status status) { return static_cast<State>(status & state_mask); }
  [[nodiscard]] Status status() const { return status_; }
  /// Changes the state from that in `seen` to `next`, and keeps the generation number. Changes nothing and returns
  /// false if the status has changed since `seen` was read.
  bool move(Status seen, State next) { return status_.compare_exchange_strong(seen, with(seen, next)); }
  /// Sets the final state after an attempt to replace the mapping, such as State::replaced.
  void set_result(State next) { status_ = with(status_, next); }

  void take(void* begin, std::size_t size) {
    begin_ = reinterpret_cast<std::uintptr_t>(begin);
    size_ = size;
    status_ = with(status_ + generation, State::whole);
  }
  void free() { status_ = with(status_ + generation, State::unused); }

  /// True if `address` is in the mapping whose status was `seen`. False if the slot has been freed or used for another
  /// mapping since, which its generation number shows.
  [[nodiscard]] bool covers(std::uintptr_t address, Status seen) const {
    const std::uintptr_t begin = begin_;
    const std::size_t size = size_;
    return state_of(seen) != State::unused && address >= begin && address - begin < size &&
           status_ / generation == seen / generation;
  }

  /// Replaces the mapping of the file by anonymous memory at the same addresses. If the kernel provides none, returns
  /// false and leaves the mapping unchanged.
  [[nodiscard]] bool replace() const {
    void* const memory = new_memory(nullptr, 0);
    if (memory == MAP_FAILED) return false;
    if (mremap(memory, size_, size_, MREMAP_MAYMOVE | MREMAP_FIXED, begin()) != MAP_FAILED) return true;
    munmap(memory, size_);
    return false;
  }
  /// Replaces the mapping of the file by anonymous memory in a single system call, which needs no additional address
  /// space. Returns false if it fails; the mapping may then no longer exist.
  [[nodiscard]] bool replace_at_once() const { return new_memory(begin(), MAP_FIXED) != MAP_FAILED; }

 private:
  static constexpr Status state_mask = 7;
  static constexpr Status generation = state_mask + 1;

  [[nodiscard]] static Status with(Status status, State state) {
    return (status & ~state_mask) | static_cast<Status>(state);
  }
  [[nodiscard]] void* begin() const { return reinterpret_cast<void*>(begin_.load()); }
  [[nodiscard]] void* new_memory(void* at, int flags) const {
    return mmap(at, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  }

  std::atomic<Status> status_ = 0;
  std::atomic<std::uintptr_t> begin_ = 0;
  std::atomic<std::size_t> size_ = 0;
};
std::array<Slot, FileMapping::most> table;
std::mutex table_mutex;  ///< locked while a slot of the table is occupied or freed; the handler never locks it

struct sigaction previous {};

/// Writes the reason to standard error and aborts the program. If standard error cannot be written at once, as for a
/// full pipe, writes nothing, because the write would block.
[[noreturn]] void end_program() {
  constexpr std::string_view word =
      "a mapped file (state.file, last_frames.file) was truncated or its file system failed, and the kernel grants no "
      "memory in its place: the program ends\n";
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) == 1) [[maybe_unused]]
    const ssize_t ignored = write(STDERR_FILENO, word.data(), word.size());
  std::abort();
}

/// Replaces missing memory of a mapping, so that the store that has failed can be repeated. Ends the program if the
/// kernel provides no memory. If another thread is replacing the mapping, only waits for a millisecond.
void replace_missing_memory(Slot& slot, Slot::Status seen) {
  constexpr int pause_ms = 1;
  switch (Slot::state_of(seen)) {
    case State::whole:
    case State::lost:
      if (!slot.move(seen, State::replacing)) return;
      if (slot.replace() || slot.replace_at_once()) return slot.set_result(State::replaced);
      slot.set_result(State::failed);
      end_program();
    case State::replacing:  // the pause lets the other thread work, whatever the priorities of both
      poll(nullptr, 0, pause_ms);
      return;
    case State::unused:
    case State::replaced:
      return;
    case State::failed:
      end_program();
  }
}

void pass_on(int number, siginfo_t* information, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, information, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  sigaction(number, &previous, nullptr);  // the instruction faults again and reaches the previous handler
}

void handle(int number, siginfo_t* information, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
  const bool is_fault = information->si_code > 0;
  // Only defective hardware makes a store to anonymous memory fail, so a retry would fail again.
  const bool is_broken = information->si_code == BUS_MCEERR_AR;
  for (Slot& slot : table) {
    const Slot::Status seen = slot.status();
    if (!is_fault || !slot.covers(address, seen)) continue;
    if (is_broken && Slot::state_of(seen) == State::replaced) break;
    replace_missing_memory(slot, seen);
    errno = error;
    return;
  }
  errno = error;
  pass_on(number, information, context);
}

/// Installs the SIGBUS handler at the first call. SA_NODEFER is set, because a previous handler may exit by longjmp(),
/// after which the signal would stay blocked.
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
    if (Slot::state_of(table.at(i).status()) == State::unused) slot_ = i;
  }
  if (slot_ == most) {
    munmap(data_, size_);
    throw std::runtime_error("cannot be mapped: too many files are");
  }
  table.at(slot_).take(data_, size_);
}

/// Frees the slot before the memory is unmapped. The kernel may reuse the addresses at once, and the handler must not
/// replace the memory of a new mapping. No thread stores to this mapping any more, so no thread is in the handler
/// because of it. A thread that searches the table for another mapping sees that the generation number has changed.
FileMapping::~FileMapping() {
  const std::lock_guard lock(table_mutex);
  table.at(slot_).free();
  munmap(data_, size_);
}

bool FileMapping::is_lost() const {
  Slot& slot = table.at(slot_);
  const Slot::Status seen = slot.status();
  const State state = Slot::state_of(seen);
  if (state != State::whole && state != State::lost) return true;
  struct stat status {};
  const bool is_short = fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < size_;
  if (state == State::whole && !is_short) return false;
  // The rest of the file is no longer written to, because it could be extended again with other contents.
  if (slot.move(seen, State::replacing)) slot.set_result(slot.replace() ? State::replaced : State::lost);
  return true;
}

void unlink_own(const std::string& path, int descriptor) {
  struct stat own {};
  struct stat present {};
  const bool known = fstat(descriptor, &own) == 0 && lstat(path.c_str(), &present) == 0;
  if (known && own.st_dev == present.st_dev && own.st_ino == present.st_ino) unlink(path.c_str());
}

}  // namespace sluice::capture

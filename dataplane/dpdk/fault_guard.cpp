#include "dataplane/dpdk/fault_guard.hpp"

#include <array>
#include <mutex>

namespace sluice::dpdk {
namespace {

/// Signal handler that was installed before that of FaultGuard.
struct Previous {
  int number;
  struct sigaction action;
};
std::array<Previous, 2> previous = {{{.number = SIGSEGV, .action = {}}, {.number = SIGBUS, .action = {}}}};

}  // namespace

thread_local jmp_buf* volatile FaultGuard::active = nullptr;

void FaultGuard::install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &FaultGuard::handle;
    // SA_NODEFER, because the handler is left by a jump, which would leave the signal blocked.
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (Previous& entry : previous) sigaction(entry.number, &action, &entry.action);
  });
}

void FaultGuard::handle(int number, siginfo_t* /*information*/, void* /*context*/) {
  if (jmp_buf* const here = active; here != nullptr) _longjmp(*here, 1);
  // The fault is not in a guarded call: the previous handler is restored, and the instruction faults again.
  for (const Previous& entry : previous) {
    if (entry.number == number) sigaction(number, &entry.action, nullptr);
  }
}

}  // namespace sluice::dpdk

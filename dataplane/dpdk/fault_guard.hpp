#pragma once

#include <setjmp.h>
#include <signal.h>

namespace sluice::dpdk {

/// Runs driver code that may access memory which another thread unmaps. The memif driver has this flaw. If the peer
/// process dies, DPDK's interrupt thread unmaps the shared rings, while the poll thread may be reading them. No lock
/// separates the two. A fault (SIGSEGV, SIGBUS) in the guarded call ends that call instead of the process.
///
/// The guarded call must be a C function that holds no lock and owns only resources that the caller can account for.
/// The stack frames between the fault and the guard are abandoned.
class FaultGuard {
 public:
  /// Installs the handler for SIGSEGV and SIGBUS, once per process. Faults outside guarded calls go to the handler that
  /// was installed before.
  static void install();

  /// Calls `function`; returns false if a fault ended it. Nothing in `function` may have a destructor, because a fault
  /// skips all destructors.
  template <typename Function>
  static bool run(Function&& function) noexcept {
    jmp_buf here;
    if (_setjmp(here) != 0) {
      active = nullptr;
      return false;
    }
    active = &here;
    function();
    active = nullptr;
    return true;
  }

 private:
  static void handle(int number, siginfo_t* information, void* context);
  /// Jump target of the current guarded call; null outside guarded calls.
  static thread_local jmp_buf* volatile active;
};

}  // namespace sluice::dpdk

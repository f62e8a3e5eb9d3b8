#pragma once

#include <setjmp.h>
#include <signal.h>

namespace sluice::dpdk {

/// Runs driver code that may touch memory which another thread takes away. The memif driver has this flaw: when the
/// peer process dies, DPDK's interrupt thread unmaps the shared rings while the poll thread may be inside a burst, and
/// the driver has no lock between the two. A fault inside the guarded call ends the call instead of the process.
///
/// The guarded call must be a C function that holds no lock and owns nothing but what the caller can account for; the
/// frames between the fault and the guard are abandoned.
class FaultGuard {
 public:
  /// Installs the handler for SIGSEGV and SIGBUS, once in a process; faults outside guarded calls go where they went
  /// before.
  static void install();

  /// Calls `function`; false when it was cut short by a fault. Nothing in `function` may have a destructor.
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
  /// Where to go back to; null outside guarded calls.
  static thread_local jmp_buf* volatile active;
};

}  // namespace sluice::dpdk

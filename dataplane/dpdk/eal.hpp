#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::dpdk {

/// How DPDK's environment is started.
struct EalConfig {
  std::string program = "sluice";
  bool hugepages = false;          ///< false: plain memory, needs neither root nor any setup
  bool pci = false;                ///< look for physical devices at start
  std::uint32_t memory_mib = 512;  ///< packet memory; taken when touched
  /// Further EAL arguments, for example {"--vdev", "net_null0"}. They win over the above where they contradict.
  std::vector<std::string> arguments;
  /// Receives DPDK's log lines, without line end; `level` is DPDK's: 1 emergency … 8 debug. From any thread.
  std::function<void(unsigned level, std::string_view line)> log;
  unsigned log_level = 4;  ///< the most talkative level that is passed on: 4 error, 5 warning, 7 info
};

/// DPDK's environment (memory, drivers, buses), for as long as this object lives. One per process and only one ever:
/// DPDK cannot be started twice. Restores the calling thread's processor affinity, which EAL would change.
class Eal {
 public:
  /// Throws std::runtime_error with the reason and what to do about it.
  explicit Eal(const EalConfig& config);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  /// The arguments EAL was started with, for logs.
  [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::vector<std::string> arguments_;
  std::string runtime_directory_;  ///< created by us, removed at the end; empty when the environment named one
};

/// Makes the calling thread known to DPDK for as long as this lives, so that packet pools keep a cache for it. Every
/// poll thread holds one. When DPDK refuses (128 threads at most) the thread works, a little slower.
class ThreadRegistration {
 public:
  ThreadRegistration() noexcept;
  ~ThreadRegistration();
  ThreadRegistration(const ThreadRegistration&) = delete;
  ThreadRegistration& operator=(const ThreadRegistration&) = delete;
  [[nodiscard]] bool registered() const noexcept { return registered_; }

 private:
  bool registered_;
};

/// Waits until DPDK's interrupt thread has done what lies before it: net_memif leaves it connections to take up and to
/// end, of ports that are gone by then if nobody waits.
void let_interrupt_thread_finish() noexcept;

/// Pins the calling thread to one processor. False when that is not possible (no such processor, not allowed).
bool pin_to_cpu(unsigned cpu) noexcept;

}  // namespace sluice::dpdk

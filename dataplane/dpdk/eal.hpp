#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::dpdk {

/// Configuration of DPDK's environment abstraction layer (EAL).
struct EalConfig {
  std::string program = "sluice";
  bool hugepages = false;  ///< true: use huge pages; false: use ordinary memory, which needs neither root nor setup

  /// True if other processes map the packet memory (peer_maps_memory()). Such memory gets no transparent huge pages.
  bool shared_memory = false;
  bool pci = false;  ///< true: probe physical devices at start
  /// Packet memory in MiB; pages of this memory use physical memory only once they are accessed.
  std::uint32_t memory_mib = 512;

  /// Further EAL arguments, for example {"--vdev", "net_null0"}. They override the arguments that follow from the other
  /// members.
  std::vector<std::string> arguments;
  /// Receives DPDK's log lines without line end; `level` is DPDK's: 1 emergency to 8 debug. Called from any thread.
  std::function<void(unsigned level, std::string_view line)> log;
  unsigned log_level = 4;  ///< most verbose level of DPDK's log that is passed on: 4 error, 5 warning, 7 info
};

/// DPDK's environment (memory, drivers, buses) for the lifetime of this object. Only one can ever exist per process,
/// because DPDK cannot be started twice. Restores the calling thread's CPU affinity, which the EAL changes.
class Eal {
 public:
  /// Starts the EAL. Throws std::runtime_error with the reason and its remedy.
  explicit Eal(const EalConfig& config);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  /// Returns the arguments with which the EAL was started, for logs.
  [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::vector<std::string> arguments_;
  std::string runtime_directory_;  ///< directory that the destructor removes; empty if it was not created here
};

/// Registers the calling thread with DPDK while this object exists, so that mempools keep a cache for the thread. Every
/// poll thread has one. DPDK permits 128 registered threads; further threads work without a cache.
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

/// Waits until DPDK's interrupt thread has finished its pending work. The interrupt thread accepts and closes
/// connections for net_memif, and must not do so while the port is destroyed.
void let_interrupt_thread_finish() noexcept;

/// Pins the calling thread to one CPU. Returns false if there is no such CPU or the kernel does not permit its use.
bool pin_to_cpu(unsigned cpu) noexcept;

}  // namespace sluice::dpdk

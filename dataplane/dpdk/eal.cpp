// Start of DPDK's environment: builds its arguments, redirects its log and registers threads. Constructed once by the
// program before ports and poll threads. By default it needs neither huge pages, PCI devices nor root. The EAL is never
// cleaned up, because its interrupt thread cannot be stopped.

#include "dataplane/dpdk/eal.hpp"

#include <pthread.h>
#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_memory.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <system_error>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/nohuge_memfd_workaround.hpp"
#include "dataplane/packet/huge_pages.hpp"

namespace sluice::dpdk {
namespace {

std::atomic<bool> started_once{false};

/// Stream that receives DPDK's log text and passes it to the callback line by line.
class LogSink {
 public:
  LogSink(std::function<void(unsigned, std::string_view)> callback, unsigned level)
      : callback_(std::move(callback)), level_(level) {}

  static ssize_t write(void* self, const char* text, std::size_t size) {
    static_cast<LogSink*>(self)->take({text, size});
    return static_cast<ssize_t>(size);
  }

 private:
  void take(std::string_view text) {
    const int current = rte_log_cur_msg_loglevel();
    const unsigned level = current > 0 ? static_cast<unsigned>(current) : unsigned{RTE_LOG_INFO};
    const std::lock_guard lock(mutex_);
    for (;;) {
      const std::size_t end = text.find('\n');
      line_.append(text.substr(0, end));
      if (end == std::string_view::npos) return;
      if (!line_.empty() && level <= level_ && callback_) callback_(level, line_);
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }

  std::function<void(unsigned, std::string_view)> callback_;
  unsigned level_;
  std::mutex mutex_;
  std::string line_;
};

/// Redirects DPDK's log to the callback. The sink is never freed, because the EAL keeps the stream until the process
/// ends.
void send_logs_to(const EalConfig& config) {
  static LogSink* sink = nullptr;
  if (sink != nullptr) return;
  sink = new LogSink(config.log, config.log_level);
  const cookie_io_functions_t functions{.read = nullptr, .write = LogSink::write, .seek = nullptr, .close = nullptr};
  FILE* const stream = fopencookie(sink, "w", functions);
  if (stream == nullptr) return;
  setvbuf(stream, nullptr, _IONBF, 0);
  rte_openlog_stream(stream);
}

/// True if `arguments` contains the option `wanted`, alone or with a value.
bool contains(const std::vector<std::string>& arguments, std::string_view wanted) {
  return std::ranges::any_of(arguments, [&](const std::string& argument) {
    return argument == wanted || (argument.starts_with(wanted) && argument.size() > wanted.size() &&
                                  (wanted.size() == 2 || argument[wanted.size()] == '='));
  });
}

/// Returns the EAL arguments: defaults for options that the configuration does not give, then the configuration's
/// arguments.
std::vector<std::string> build_arguments(const EalConfig& config) {
  std::vector<std::string> arguments = {config.program};
  const auto given = [&](std::string_view option) { return contains(config.arguments, option); };
  const auto add = [&](std::initializer_list<std::string> words) { arguments.insert(arguments.end(), words); };
  // One lcore is enough for the thread that starts the EAL, because poll threads register themselves.
  if (!given("-l") && !given("--lcores") && !given("-c")) add({"-l", "0"});
  if (!given("--telemetry")) add({"--no-telemetry"});
  if (!given("--log-level")) add({"--log-level=" + std::to_string(config.log_level)});
  if (config.hugepages) {
    add({"--in-memory"});
  } else {
    add({"--no-huge", "--no-shconf"});
  }
  if (!given("-m") && !given("--socket-mem")) add({"-m", std::to_string(config.memory_mib)});
  if (!config.pci && !given("-a") && !given("--allow")) add({"--no-pci"});
  arguments.insert(arguments.end(), config.arguments.begin(), config.arguments.end());
  return arguments;
}

/// Sets XDG_RUNTIME_DIR to a new directory if the variable is not set. The EAL requires such a directory even in a
/// process that shares no memory. Returns the created directory, or an empty string.
std::string ensure_runtime_directory() {
  if (const char* const given = getenv("XDG_RUNTIME_DIR"); given != nullptr) {
    std::error_code error;
    if (std::filesystem::is_directory(given, error)) return {};
  }
  std::string path = (std::filesystem::temp_directory_path() / "sluice-run-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("DPDK: cannot create a directory for run-time files in " +
                             std::filesystem::temp_directory_path().string() + "; set XDG_RUNTIME_DIR");
  }
  setenv("XDG_RUNTIME_DIR", path.c_str(), 1);
  return path;
}

/// Returns the error message for a failed start of the EAL, with its remedy.
std::string explain_failure(const EalConfig& config, const std::vector<std::string>& arguments) {
  std::string text = "DPDK did not start: " + std::string(rte_strerror(rte_errno)) + " (arguments:";
  for (const std::string& argument : arguments) text += ' ' + argument;
  text += ')';
  if (config.hugepages) {
    text +=
        "; huge pages must be reserved first, for example: echo 512 > "
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
  } else if (rte_errno == ENOMEM) {
    text +=
        "; " + std::to_string(config.memory_mib) + " MiB of memory are needed, and the system does not provide them";
  }
  return text;
}

/// Returns the memory in MiB that the EAL allocates: the value of the last -m in the arguments, else the configured
/// one.
std::uint64_t memory_of(const EalConfig& config, const std::vector<std::string>& arguments) {
  std::uint64_t mebibytes = config.memory_mib;
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "-m") mebibytes = std::strtoull(arguments[i + 1].c_str(), nullptr, 10);
  }
  return mebibytes;
}

/// True if the kernel permits mapping `bytes` of private memory. With vm.overcommit_memory = 0 (the default) the kernel
/// refuses to map more than the machine has. DPDK then uses a memory file, whose size the kernel does not check, and
/// PacketPool reports the missing memory.
bool can_map(std::uint64_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

/// True if DPDK can use ordinary private memory of this process for packets, so that the kernel can back it with
/// transparent huge pages. That is not the case if another process maps the memory.
bool has_private_memory(const EalConfig& config, const std::vector<std::string>& arguments) {
  return contains(arguments, "--no-huge") && !config.shared_memory && can_map(memory_of(config, arguments) << 20U) &&
         std::ranges::none_of(arguments, [](const std::string& argument) {
           return peer_maps_memory(argument.substr(argument.starts_with("--vdev=") ? 7 : 0));
         });
}

/// Requests transparent huge pages for all memory of DPDK.
void request_huge_pages() {
  const auto request = [](const rte_memseg_list* list, void*) {
    packet::prefer_huge_pages(list->base_va, list->len);
    return 0;
  };
  rte_memseg_list_walk(request, nullptr);
}

/// Semaphore that DPDK's interrupt thread posts when an alarm fires. It is static, because the alarm may fire after the
/// waiting thread has given up.
std::binary_semaphore alarm_rang(0);

}  // namespace

Eal::Eal(const EalConfig& config) {
  if (started_once.exchange(true)) {
    throw std::runtime_error("DPDK can be started only once in a process");
  }
  runtime_directory_ = ensure_runtime_directory();
  arguments_ = build_arguments(config);
  if (config.log) send_logs_to(config);

  std::vector<std::string> words = arguments_;  // the EAL reorders them and uses the pointers only while it parses
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  cpu_set_t affinity;
  const bool have_affinity = pthread_getaffinity_np(pthread_self(), sizeof affinity, &affinity) == 0;
  const bool is_private = has_private_memory(config, arguments_);
  const int result = [&] {
    const PrivateMemory memory(is_private);
    return rte_eal_init(static_cast<int>(pointers.size()), pointers.data());
  }();
  if (have_affinity) pthread_setaffinity_np(pthread_self(), sizeof affinity, &affinity);
  if (result < 0) {
    const std::string reason = explain_failure(config, arguments_);
    if (!runtime_directory_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(runtime_directory_, ignored);
    }
    throw std::runtime_error(reason);
  }
  if (is_private) request_huge_pages();
  start_clock();
}

// There is no rte_eal_cleanup(), because DPDK's interrupt thread cannot be stopped. The thread would continue to read
// its list of sources in memory that the cleanup unmaps (the memif driver never removes its listening socket). Ports
// have closed their devices, and the memory is private, so the end of the process releases the rest.
Eal::~Eal() {
  if (!runtime_directory_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(runtime_directory_, ignored);
  }
}

void let_interrupt_thread_finish() noexcept {
  // When two alarms in a row have run on that thread, it has finished everything that preceded the second.
  const auto ring = [](void*) { alarm_rang.release(); };
  for (int i = 0; i < 2; ++i) {
    if (rte_eal_alarm_set(1, ring, nullptr) != 0 || !alarm_rang.try_acquire_for(std::chrono::seconds(1))) return;
  }
}

ThreadRegistration::ThreadRegistration() noexcept
    : registered_(rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0) {}

ThreadRegistration::~ThreadRegistration() {
  if (registered_) rte_thread_unregister();
}

bool pin_to_cpu(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

}  // namespace sluice::dpdk

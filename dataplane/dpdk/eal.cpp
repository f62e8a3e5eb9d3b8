#include "dataplane/dpdk/eal.hpp"

#include <pthread.h>
#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <system_error>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::dpdk {
namespace {

std::atomic<bool> started_once{false};

/// Where DPDK's log text goes: a stdio stream whose writes end up in the callback, cut into lines.
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

/// EAL keeps the stream for the rest of the process, and so must we.
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

bool contains(const std::vector<std::string>& arguments, std::string_view wanted) {
  return std::ranges::any_of(arguments, [&](const std::string& argument) {
    return argument == wanted || (argument.starts_with(wanted) && argument.size() > wanted.size() &&
                                  (wanted.size() == 2 || argument[wanted.size()] == '='));
  });
}

std::vector<std::string> build_arguments(const EalConfig& config) {
  std::vector<std::string> arguments = {config.program};
  const auto given = [&](std::string_view option) { return contains(config.arguments, option); };
  const auto add = [&](std::initializer_list<std::string> words) { arguments.insert(arguments.end(), words); };
  // One lcore for the thread that starts EAL; poll threads are ours and register themselves.
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

/// EAL wants a directory of its own even when it shares nothing; names one that this user may write to. Returns what
/// was created.
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

std::string explain_failure(const EalConfig& config, const std::vector<std::string>& arguments) {
  std::string text = "DPDK did not start: " + std::string(rte_strerror(rte_errno)) + " (arguments:";
  for (const std::string& argument : arguments) text += ' ' + argument;
  text += ')';
  if (config.hugepages) {
    text +=
        "; huge pages must be reserved first, for example: echo 512 > "
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
  } else if (rte_errno == ENOMEM) {
    text += "; " + std::to_string(config.memory_mib) + " MiB of memory are wanted, and the system does not give them";
  }
  return text;
}

/// Older than DPDK's interrupt thread, which releases it, and outlives an alarm that comes too late.
std::binary_semaphore alarm_rang(0);

}  // namespace

Eal::Eal(const EalConfig& config) {
  if (started_once.exchange(true)) {
    throw std::runtime_error("DPDK can be started only once in a process");
  }
  runtime_directory_ = ensure_runtime_directory();
  arguments_ = build_arguments(config);
  if (config.log) send_logs_to(config);

  std::vector<std::string> words = arguments_;  // EAL reorders and keeps pointers only while it parses
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  cpu_set_t affinity;
  const bool have_affinity = pthread_getaffinity_np(pthread_self(), sizeof affinity, &affinity) == 0;
  const int result = rte_eal_init(static_cast<int>(pointers.size()), pointers.data());
  if (have_affinity) pthread_setaffinity_np(pthread_self(), sizeof affinity, &affinity);
  if (result < 0) {
    const std::string reason = explain_failure(config, arguments_);
    if (!runtime_directory_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(runtime_directory_, ignored);
    }
    throw std::runtime_error(reason);
  }
  start_clock();
}

// No rte_eal_cleanup(): DPDK's interrupt thread cannot be stopped, and would go on reading the list of what it watches
// in memory that this unmaps (the memif driver never takes its listening socket off). EAL starts once in a process,
// ports have closed their devices, and the memory is private: the process's end does the rest.
Eal::~Eal() {
  if (!runtime_directory_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(runtime_directory_, ignored);
  }
}

void let_interrupt_thread_finish() noexcept {
  // Once two alarms in a row have run there, it is through with everything that came before the second.
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

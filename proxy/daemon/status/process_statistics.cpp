// Reads what the kernel knows of this process: processor time, memory, descriptors and start time. WebServer calls it
// for each request of /metrics. Invariant: all system calls are among allowed_system_calls, and a file that cannot be
// read leaves its values absent.
#include "proxy/daemon/status/process_statistics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace sluice::proxy {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double seconds_by(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::optional<ProcessStat> read_process_stat() {
  std::ifstream file("/proc/self/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  return parse_process_stat(line);
}

/// Returns the number of open file descriptors. Does not count the descriptor that this function itself opens.
std::optional<std::uint64_t> count_descriptors() {
  std::error_code error;
  std::uint64_t count = 0;
  std::filesystem::directory_iterator at("/proc/self/fd", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) ++count;
  if (error || count == 0) return std::nullopt;
  return count - 1;
}

std::optional<std::uint64_t> descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  // Numbers of the fields as in proc(5), where the name is field 2 and the state field 3.
  constexpr int first_behind_name = 3;
  constexpr int start_time = 22;
  constexpr int virtual_size = 23;
  constexpr int resident_size = 24;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string_view::npos) return std::nullopt;
  line.remove_prefix(end_of_name + 1);
  ProcessStat stat;
  for (int field = first_behind_name; field <= resident_size; ++field) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \n"));
    line.remove_prefix(word.size());
    if (field < start_time) {
      if (word.empty()) return std::nullopt;
      continue;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (field == start_time) stat.start_ticks = value;
    if (field == virtual_size) stat.virtual_bytes = value;
    if (field == resident_size) stat.resident_pages = value;
  }
  return stat;
}

ProcessStatisticsReader::ProcessStatisticsReader() {
  const std::optional<ProcessStat> stat = read_process_stat();
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (!stat || ticks_per_second <= 0) return;
  const double since_boot = static_cast<double>(stat->start_ticks) / static_cast<double>(ticks_per_second);
  start_time_seconds_ = seconds_by(CLOCK_REALTIME) - seconds_by(CLOCK_BOOTTIME) + since_boot;
}

ProcessStatistics ProcessStatisticsReader::read() const {
  ProcessStatistics statistics;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    statistics.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  if (const std::optional<ProcessStat> stat = read_process_stat()) {
    statistics.virtual_bytes = stat->virtual_bytes;
    statistics.resident_bytes = stat->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  statistics.open_descriptors = count_descriptors();
  statistics.max_descriptors = descriptor_limit();
  statistics.start_time_seconds = start_time_seconds_;
  return statistics;
}

}  // namespace sluice::proxy

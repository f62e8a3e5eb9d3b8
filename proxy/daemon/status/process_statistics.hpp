#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::proxy {

/// Resources that this process uses, in the units of Prometheus' process_* metrics. A value that the kernel does not
/// report is absent.
struct ProcessStatistics {
  double cpu_seconds = 0;  ///< processor time of all threads, in user and kernel mode
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> virtual_bytes;
  std::optional<std::uint64_t> open_descriptors;
  std::optional<std::uint64_t> max_descriptors;  ///< maximum number of open file descriptors; absent if unlimited
  std::optional<double> start_time_seconds;      ///< start time of the process, in seconds since 1970 (UTC)
};

/// Fields of /proc/PID/stat (proc(5)).
struct ProcessStat {
  std::uint64_t start_ticks = 0;  ///< start time of the process, in clock ticks since boot
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};
/// Parses a line of /proc/PID/stat. Returns nothing if the line has too few fields. The name of the program may contain
/// blanks and parentheses.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Reads the statistics of this process. The constructor computes the start time, so that it does not change when the
/// clock is adjusted. Thread: any single one.
class ProcessStatisticsReader {
 public:
  ProcessStatisticsReader();
  [[nodiscard]] ProcessStatistics read() const;

 private:
  std::optional<double> start_time_seconds_;
};

}  // namespace sluice::proxy

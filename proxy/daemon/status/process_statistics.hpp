#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::proxy {

/// Resources that this process uses, in the units of the usual process_* metrics. A value that the kernel does not
/// show is absent.
struct ProcessStatistics {
  double cpu_seconds = 0;  ///< user and system time of all threads
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> virtual_bytes;
  std::optional<std::uint64_t> open_descriptors;
  std::optional<std::uint64_t> max_descriptors;  ///< absent if the number is unlimited
  std::optional<double> start_time_seconds;      ///< time of the start since 1970, in UTC
};

/// Fields of /proc/PID/stat (proc(5)).
struct ProcessStat {
  std::uint64_t start_ticks = 0;  ///< time of the start since boot, in clock ticks
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};
/// Parses a line of /proc/PID/stat. Returns nothing if the line has too few fields. The name of the program may contain
/// blanks and parentheses.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Reads the statistics of this process. The start time is determined at construction, because it must not change when
/// the clock is adjusted. Thread: any single one.
class ProcessStatisticsReader {
 public:
  ProcessStatisticsReader();
  [[nodiscard]] ProcessStatistics read() const;

 private:
  std::optional<double> start_time_seconds_;
};

}  // namespace sluice::proxy

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::proxy {

/// Writes log lines to a descriptor from a thread of its own. So other threads never wait for a full pipe, a stopped
/// terminal or a disk that does not respond. Lines that do not fit into the queue are dropped, and a later line reports
/// how many. The constructor starts the thread, so that a seccomp filter may be loaded later. Thread: any.
class LogWriter {
 public:
  /// Function that returns a log line, with its line end, which reports that `lines` lines were lost.
  using LossLine = std::function<std::string(std::uint64_t lines)>;
  /// Maximum number of bytes in the queue: 1 MiB, about ten thousand lines.
  static constexpr std::size_t max_waiting = std::size_t{1} << 20U;

  /// Starts writing to a duplicate of `descriptor`. The flags of the open file are not changed, because other processes
  /// may share them. If `descriptor` is closed, every line is lost. `loss_line` formats the line that reports lost
  /// lines.
  LogWriter(int descriptor, LossLine loss_line);
  /// Opens the file `path` for appending and starts writing to it. `loss_line` formats the line that reports lost
  /// lines. Throws std::system_error on failure.
  LogWriter(const std::string& path, LossLine loss_line);
  /// Tag type that selects the constructor for a syslog daemon.
  struct ToSyslog {};
  /// Starts writing to the datagram socket of a syslog daemon, such as /dev/log, one datagram per line. If the daemon
  /// is absent, each further line tries to connect again. Lines are lost until that succeeds. `loss_line` formats the
  /// line that reports lost lines.
  LogWriter(ToSyslog, const std::string& socket, LossLine loss_line);
  /// Waits at most one second until all lines are written. Lines that remain are lost. If the writing thread is still
  /// blocked in a write then, it ends after this write, or with the process.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Queues a log line. `line` must include its line end.
  void write(std::string_view line);
  /// Opens the log file again by its name and writes all later lines to it. Throws std::system_error on failure; later
  /// lines then still go to the old file.
  void reopen();
  /// Returns the number of log lines dropped since the start.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  class Target;
  struct Shared;
  void start();

  std::string path_;  ///< path of the log file; empty if a descriptor was given
  std::shared_ptr<Shared> shared_;
};

}  // namespace sluice::proxy

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::proxy {

/// Writes log lines to a descriptor from a thread of its own. Other threads therefore never wait for the reader of a
/// full pipe, a stopped terminal or a disk that does not respond. Lines that do not fit into the queue are dropped and
/// counted, and a line reports their number. The constructor starts the thread, so that a seccomp filter may be loaded
/// later. Thread: any.
class LogWriter {
 public:
  /// Function that formats the report that `lines` lines were lost, as a log line with its line end.
  using LossLine = std::function<std::string(std::uint64_t lines)>;
  /// Maximum number of bytes in the queue, 1 MiB: some ten thousand lines.
  static constexpr std::size_t max_waiting = std::size_t{1} << 20U;

  /// Starts writing to a duplicate of `descriptor`. The flags of the open file are not changed, because other processes
  /// may share them. If `descriptor` is closed, every line is lost.
  LogWriter(int descriptor, LossLine loss_line);
  /// Opens the file `path` for appending and starts writing to it. Throws std::system_error on failure.
  LogWriter(const std::string& path, LossLine loss_line);
  /// Tag of the constructor for a syslog daemon.
  struct ToSyslog {};
  /// Starts writing to the datagram socket of a syslog daemon, such as /dev/log: one datagram per line. A daemon that
  /// is absent or restarts is looked for again at each line; lines meanwhile are lost.
  LogWriter(ToSyslog, const std::string& socket, LossLine loss_line);
  /// Waits until all lines are written, at most one second. The remaining lines are then lost, and the thread stays in
  /// its system call until the process ends.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Queues a log line, which includes its line end.
  void write(std::string_view line);
  /// Opens the log file by its name again and writes all later lines to it. Throws std::system_error on failure; lines
  /// then still go to the earlier file.
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

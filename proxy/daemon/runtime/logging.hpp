#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/config/config.hpp"
#include "proxy/daemon/service/log_writer.hpp"

namespace sluice::proxy {

/// Log of the program. While the object exists, spdlog::info() and similar functions write to this log. A thread that
/// logs never waits for a disk or for the reader of the log (see LogWriter).
class Logging {
 public:
  /// Opens the log. Throws std::runtime_error if the log file cannot be opened.
  explicit Logging(const LoggingSettings& settings);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  /// Opens the log file by its name again, because log rotation has renamed the old one. Returns an error message, or
  /// an empty text.
  std::string reopen();
  /// Sets the lowest level of messages that are logged from now on.
  void set_level(LogLevel level);
  [[nodiscard]] LogLevel level() const { return level_; }
  /// Returns the number of log lines dropped since the start.
  [[nodiscard]] std::uint64_t lost() const;
  /// Writes a warning to the log. Must not be called on the packet path.
  static void warn(const std::string& message);
  static void fail(const std::string& message);

 private:
  std::unique_ptr<LogWriter> writer_;
  std::unique_ptr<LogWriter> syslog_;  ///< null without logging.syslog
  LogLevel level_;
};

/// Returns a message for the syslog daemon of this machine: <30>Jan 31 12:00:00 sluice[1]: text. The format is that of
/// RFC 3164 without the host name. Control characters become spaces, and a message is cut after 8192 bytes.
[[nodiscard]] std::string syslog_line(std::time_t seconds_since_1970, LogLevel level, std::string_view message);

/// Returns a log line as one JSON object, without a line end:
/// {"time":"2026-01-31T12:00:00.123456Z","level":"info","message":"…"}. The JSON is valid whatever the message
/// contains.
[[nodiscard]] std::string json_log_line(long long microseconds_since_1970, const std::string& level,
                                        const std::string& message);

}  // namespace sluice::proxy

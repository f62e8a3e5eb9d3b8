#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/daemon/service/log_writer.hpp"

namespace sluice::proxy {

/// Log of the program, to which spdlog::info() and the like write while the object exists. A thread that logs never
/// waits for the reader of the log or a disk, see LogWriter.
class Logging {
 public:
  /// Opens the log. Throws std::runtime_error if the log file cannot be opened.
  explicit Logging(const LoggingSettings& settings);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  /// Reopens the log file after it was renamed. Returns an error message, or an empty text.
  std::string reopen();
  /// Returns the number of log lines dropped since the start.
  [[nodiscard]] std::uint64_t lost() const { return writer_->lost(); }
  /// Writes a warning to the log. Not for the packet path.
  static void warn(const std::string& message);
  static void fail(const std::string& message);

 private:
  std::unique_ptr<LogWriter> writer_;
};

/// Returns one line of JSON without its end: {"time":"2026-01-31T12:00:00.123456Z","level":"info","message":"…"}. The
/// line is valid JSON for any message.
[[nodiscard]] std::string json_log_line(long long microseconds_since_1970, const std::string& level,
                                        const std::string& message);

}  // namespace sluice::proxy

#pragma once

#include <memory>
#include <string>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// The program's log, for as long as this lives: what spdlog::info() and its like write.
class Logging {
 public:
  /// Throws std::runtime_error when the log file cannot be opened.
  explicit Logging(const LoggingSettings& settings);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  /// Opens the log file again, after it was moved away. Returns why that failed, or nothing.
  std::string reopen();
  /// Lines that do not come from the data path.
  static void warn(const std::string& message);
  static void fail(const std::string& message);

 private:
  class FileSink;
  std::shared_ptr<FileSink> file_;
};

/// One line of JSON without its end: {"time":"2026-01-31T12:00:00.123456Z","level":"info","message":"…"}. Whatever the
/// message holds, the line is valid JSON.
[[nodiscard]] std::string json_log_line(long long microseconds_since_1970, const std::string& level,
                                        const std::string& message);

}  // namespace sluice::proxy

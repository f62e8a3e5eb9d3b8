#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/service/log_writer.hpp"

namespace sluice::proxy {

/// The program's log, for as long as this lives: what spdlog::info() and its like write. No thread that logs waits for
/// the reader of the log or for a disk: see LogWriter.
class Logging {
 public:
  /// Throws std::runtime_error when the log file cannot be opened.
  explicit Logging(const LoggingSettings& settings);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  /// Opens the log file again, after it was moved away. Returns why that failed, or nothing.
  std::string reopen();
  /// Number of lines that were dropped since the start.
  [[nodiscard]] std::uint64_t lost() const { return writer_->lost(); }
  /// Lines that do not come from the data path.
  static void warn(const std::string& message);
  static void fail(const std::string& message);

 private:
  std::unique_ptr<LogWriter> writer_;
};

/// One line of JSON without its end: {"time":"2026-01-31T12:00:00.123456Z","level":"info","message":"…"}. Whatever the
/// message holds, the line is valid JSON.
[[nodiscard]] std::string json_log_line(long long microseconds_since_1970, const std::string& level,
                                        const std::string& message);

}  // namespace sluice::proxy

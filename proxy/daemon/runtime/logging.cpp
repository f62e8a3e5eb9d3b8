// Connects spdlog to the log file or standard error, as text or JSON. main.cpp creates the log first and destroys it
// last. Invariant: a log line never blocks the calling thread, because LogWriter queues it.
#include "proxy/daemon/runtime/logging.hpp"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "proxy/daemon/service/log_sink.hpp"

namespace sluice::proxy {
namespace {

/// Formats every log line as one JSON object.
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(message.time.time_since_epoch());
    const auto level = spdlog::level::to_string_view(message.level);
    const std::string line = json_log_line(since_epoch.count(), std::string(level.data(), level.size()),
                                           std::string(message.payload.data(), message.payload.size())) +
                             "\n";
    out.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return LogLevel::trace;
    case spdlog::level::debug:
      return LogLevel::debug;
    case spdlog::level::warn:
      return LogLevel::warning;
    case spdlog::level::err:
      return LogLevel::error;
    case spdlog::level::critical:
      return LogLevel::critical;
    default:
      return LogLevel::info;
  }
}

/// Formats every log line as a datagram for a syslog daemon.
class SyslogFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string line = syslog_line(std::chrono::system_clock::to_time_t(message.time), level_of(message.level),
                                         {message.payload.data(), message.payload.size()});
    out.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<SyslogFormatter>();
  }
};

std::unique_ptr<spdlog::formatter> formatter_of(LogFormat format) {
  if (format == LogFormat::json) return std::make_unique<JsonFormatter>();
  return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%e%z %-8l %v");
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::critical:
      return spdlog::level::critical;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

Logging::Logging(const LoggingSettings& settings) : level_(settings.level) {
  const LogWriter::LossLine loss_line = loss_line_by(formatter_of(settings.format));
  try {
    if (settings.file)
      writer_ = std::make_unique<LogWriter>(*settings.file, loss_line);
    else
      writer_ = std::make_unique<LogWriter>(STDERR_FILENO, loss_line);
  } catch (const std::system_error& problem) {
    throw std::runtime_error("logging.file cannot be opened: " + std::string(problem.what()));
  }
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<LogSink>(*writer_, formatter_of(settings.format), false)};
  if (settings.syslog) {
    syslog_ = std::make_unique<LogWriter>(LogWriter::ToSyslog{}, *settings.syslog,
                                          loss_line_by(std::make_unique<SyslogFormatter>()));
    sinks.push_back(std::make_shared<LogSink>(*syslog_, std::make_unique<SyslogFormatter>(), false));
  }
  auto logger = std::make_shared<spdlog::logger>("sluice", sinks.begin(), sinks.end());
  logger->set_level(level_of(settings.level));
  spdlog::set_default_logger(std::move(logger));
}

Logging::~Logging() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

std::string Logging::reopen() {
  try {
    writer_->reopen();
    return {};
  } catch (const std::system_error& problem) {
    return problem.what();
  }
}

void Logging::set_level(LogLevel level) {
  level_ = level;
  spdlog::default_logger()->set_level(level_of(level));
}

std::uint64_t Logging::lost() const {
  return writer_->lost() + (syslog_ ? syslog_->lost() : 0);
}

void Logging::warn(const std::string& message) {
  spdlog::warn("{}", message);
}

void Logging::fail(const std::string& message) {
  spdlog::critical("{}", message);
}

std::string syslog_line(std::time_t seconds_since_1970, LogLevel level, std::string_view message) {
  constexpr int facility_daemon = 3;
  constexpr std::size_t longest_message = 8192;
  constexpr std::array severities{7, 7, 6, 4, 3, 2, 2};  // indexed by LogLevel
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  localtime_r(&seconds_since_1970, &parts);
  std::string line = fmt::format("<{}>{} {:2} {:02}:{:02}:{:02} sluice[{}]: ",
                                 8 * facility_daemon + severities.at(static_cast<std::size_t>(level)),
                                 months.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_mday, parts.tm_hour,
                                 parts.tm_min, parts.tm_sec, getpid());
  for (const char c : message.substr(0, longest_message)) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return line;
}

std::string json_log_line(long long microseconds_since_1970, const std::string& level, const std::string& message) {
  const std::time_t seconds = microseconds_since_1970 / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> time{};
  const std::size_t length = std::strftime(time.data(), time.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string fraction = std::to_string(1'000'000 + microseconds_since_1970 % 1'000'000).substr(1);
  const nlohmann::ordered_json line = {
      {"time", std::string(time.data(), length) + "." + fraction + "Z"}, {"level", level}, {"message", message}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace sluice::proxy

#include "proxy/runtime/logging.hpp"

#include <spdlog/details/file_helper.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace sluice::proxy {
namespace {

/// Every line one JSON object.
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

/// Appends to a file that may be moved away under it.
class Logging::FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::string& path) { file_.open(path); }
  void reopen() {
    const std::lock_guard lock(mutex_);
    file_.reopen(false);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.write(line);
  }
  void flush_() override { file_.flush(); }

 private:
  spdlog::details::file_helper file_;
};

Logging::Logging(const LoggingSettings& settings) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (settings.file) {
    try {
      file_ = std::make_shared<FileSink>(*settings.file);
    } catch (const spdlog::spdlog_ex& problem) {
      throw std::runtime_error("logging.file cannot be opened: " + std::string(problem.what()));
    }
    sink = file_;
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  sink->set_formatter(formatter_of(settings.format));
  auto logger = std::make_shared<spdlog::logger>("sluice", std::move(sink));
  logger->set_level(level_of(settings.level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

Logging::~Logging() {
  spdlog::default_logger()->flush();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

std::string Logging::reopen() {
  if (!file_) return {};
  try {
    file_->reopen();
    return {};
  } catch (const spdlog::spdlog_ex& problem) {
    return problem.what();
  }
}

void Logging::warn(const std::string& message) {
  spdlog::warn("{}", message);
}

void Logging::fail(const std::string& message) {
  spdlog::critical("{}", message);
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

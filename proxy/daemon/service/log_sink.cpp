#include "proxy/daemon/service/log_sink.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace sluice::proxy {
namespace {

std::string_view colour_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return "\x1b[31m";
  return level == spdlog::level::warn ? "\x1b[33m" : "\x1b[32m";
}

}  // namespace

LogSink::LogSink(LogWriter& writer, std::unique_ptr<spdlog::formatter> formatter, bool colours)
    : writer_(writer), colours_(colours) {
  set_formatter_(std::move(formatter));
}

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  message.color_range_start = message.color_range_end = 0;
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (!colours_ || message.color_range_end <= message.color_range_start)
    return writer_.write({line.data(), line.size()});
  std::string text(line.data(), line.size());
  text.insert(message.color_range_end, "\x1b[m");
  text.insert(message.color_range_start, colour_of(message.level));
  writer_.write(text);
}

/// Returns a function that formats a warning with the number of lost log lines. LogWriter calls it under its mutex,
/// because the formatter may be used by one thread at a time only.
LogWriter::LossLine loss_line_by(std::unique_ptr<spdlog::formatter> formatter) {
  return [own = std::shared_ptr<spdlog::formatter>(std::move(formatter))](std::uint64_t lines) {
    const std::string text = std::to_string(lines) + " log lines lost: not read in time, or not writable";
    spdlog::memory_buf_t line;
    own->format({"sluice", spdlog::level::warn, text}, line);
    return std::string(line.data(), line.size());
  };
}

}  // namespace sluice::proxy

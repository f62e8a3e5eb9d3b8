#pragma once

#include <spdlog/formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>

#include "proxy/daemon/service/log_writer.hpp"

namespace sluice::proxy {

/// Passes each line that spdlog formats to a LogWriter, which outlives the sink. Thread: any.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Creates a sink that writes to `writer`. If `colours` is true, the part of a line that `formatter` marks is
  /// coloured by log level, for terminals.
  LogSink(LogWriter& writer, std::unique_ptr<spdlog::formatter> formatter, bool colours);

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}  // the writer buffers nothing on this side

 private:
  LogWriter& writer_;
  bool colours_;
};

/// Returns a function that formats a warning with the number of lost log lines. It uses `formatter`.
[[nodiscard]] LogWriter::LossLine loss_line_by(std::unique_ptr<spdlog::formatter> formatter);

}  // namespace sluice::proxy

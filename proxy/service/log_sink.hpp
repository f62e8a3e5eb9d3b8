#pragma once

#include <spdlog/formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>

#include "proxy/service/log_writer.hpp"

namespace sluice::proxy {

/// Hands each line of spdlog to a LogWriter, which outlives it. Thread: any.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// `colours`: marks what the formatter names as coloured by the level, as on a terminal.
  LogSink(LogWriter& writer, std::unique_ptr<spdlog::formatter> formatter, bool colours);

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}  // the writer holds nothing back

 private:
  LogWriter& writer_;
  bool colours_;
};

/// Returns what states, as a warning that `formatter` formats, how many lines a LogWriter has lost.
[[nodiscard]] LogWriter::LossLine loss_line_by(std::unique_ptr<spdlog::formatter> formatter);

}  // namespace sluice::proxy

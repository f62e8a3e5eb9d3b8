#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>

#include "emulator/runtime/live_run.hpp"
#include "emulator/scenario/scenario.hpp"
#include "proxy/http/http_server.hpp"
#include "proxy/page/live_page.hpp"

namespace sluice::emulator {

/// The live page of the radio side: what a running Node-B tells of itself, to browsers. Thread: one, which serves.
class RadioPage {
 public:
  /// `run` outlives it. Throws std::runtime_error when the address cannot be had.
  RadioPage(const LivePageSpec& spec, LiveRun& run, std::string mode);

  /// Answers whoever asks, for so long.
  void serve_for(std::chrono::milliseconds duration) { context_.run_for(duration); }

 private:
  [[nodiscard]] std::string view() const;

  LiveRun& run_;
  std::string mode_;
  boost::asio::io_context context_{1};
  page::LivePage page_;
  http::HttpServer server_;
};

}  // namespace sluice::emulator

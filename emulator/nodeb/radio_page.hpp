#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <string>

#include "emulator/runtime/live_run.hpp"
#include "emulator/scenario/scenario.hpp"
#include "proxy/ops/http/history.hpp"
#include "proxy/ops/http/http_server.hpp"
#include "proxy/ops/http/live_page.hpp"

namespace sluice::emulator {

/// Live page of the radio side: shows the state of a running Node-B to browsers. Thread: the thread that serves the
/// page.
class RadioPage {
 public:
  /// Starts the HTTP server. `mode` is the name of the mode that the page shows. `run` must outlive the page. Throws
  /// std::runtime_error if the address cannot be bound.
  RadioPage(const LivePageSpec& spec, LiveRun& run, std::string mode);

  /// Serves requests for `duration`.
  void serve_for(std::chrono::milliseconds duration) { context_.run_for(duration); }

 private:
  [[nodiscard]] std::string view() const;
  /// Adds the newest interval to the history, and schedules the next call one second later.
  void record_history();

  LiveRun& run_;
  std::string mode_;
  page::History history_;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer history_timer_{context_};
  page::LivePage page_;
  http::HttpServer server_;
};

}  // namespace sluice::emulator

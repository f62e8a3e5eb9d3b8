#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/config/config.hpp"
#include "proxy/daemon/runtime/reloader.hpp"
#include "proxy/daemon/status/detail_collector.hpp"
#include "proxy/daemon/status/exposition.hpp"
#include "proxy/daemon/status/process_statistics.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/daemon/status/totals_history.hpp"
#include "proxy/ops/http/http_server.hpp"
#include "proxy/ops/http/live_page.hpp"

namespace sluice::proxy {

/// HTTP server of the program: metrics, health, and the live page if one is configured. Thread: the control thread.
class WebServer {
 public:
  /// Objects and functions from which the server gets the contents of its answers. These objects must outlive the
  /// server.
  struct Program {
    StatusSource& status_source;
    DetailCollector& details;
    Reloader& reloader;
    /// Returns the processor time of each shard's thread.
    std::function<std::vector<std::optional<Duration>>()> processor_times;
    std::function<bool()> healthy;  ///< returns true if every shard's thread makes progress
  };
  /// Listens at metrics.listen, which must be set. Throws std::runtime_error if the address is not available.
  WebServer(boost::asio::io_context& context, const Config& config, Program program);
  /// Adds the current totals to the history that the live page shows, if the page is configured. Must be called once a
  /// second.
  void record_history();

 private:
  [[nodiscard]] http::HttpServer::Reply answer(const http::Request& request);
  [[nodiscard]] std::string metrics_page(metrics::Format format) const;
  void look(const std::function<void(const std::string&)>& take);
  [[nodiscard]] std::optional<std::string> switch_mode(const std::string& mode);
  [[nodiscard]] page::Program page_program(bool switch_modes);

  Program program_;
  ProcessStatisticsReader process_statistics_;
  std::optional<TotalsHistory> history_;  ///< set if the live page is configured
  std::optional<page::LivePage> page_;
  std::optional<http::HttpServer> server_;
};

}  // namespace sluice::proxy

#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/config/config.hpp"
#include "proxy/http/http_server.hpp"
#include "proxy/metrics/exposition.hpp"
#include "proxy/overview/detail_collector.hpp"
#include "proxy/overview/overview.hpp"
#include "proxy/page/live_page.hpp"
#include "proxy/runtime/reloader.hpp"

namespace sluice::proxy {

/// What the program serves over HTTP: metrics, and the live page where there is one. Thread: the control thread.
class WebServer {
 public:
  /// What is asked. All of it outlives the server.
  struct Program {
    Overview& overview;
    DetailCollector& details;
    Reloader& reloader;
    std::function<std::vector<std::optional<Duration>>()> processor_times;  ///< of each shard's thread
    std::function<bool()> healthy;                                          ///< every shard's thread goes round
  };
  /// Listens at metrics.listen, which is set. Throws std::runtime_error when it cannot be had.
  WebServer(boost::asio::io_context& context, const Config& config, Program program);

 private:
  [[nodiscard]] http::HttpServer::Reply answer(const http::Request& request);
  [[nodiscard]] std::string metrics_page(metrics::Format format) const;
  void look(const std::function<void(const std::string&)>& take);
  [[nodiscard]] std::optional<std::string> switch_mode(const std::string& mode);
  [[nodiscard]] page::Program page_program(bool switch_modes);

  Program program_;
  std::optional<page::LivePage> page_;
  std::optional<http::HttpServer> server_;
};

}  // namespace sluice::proxy

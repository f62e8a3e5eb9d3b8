// HTTP server of the program: metrics, health and the live page with its history. Runtime creates it, and calls
// record_history() once per second. Invariant: it answers from published snapshots, so no request delays a packet.
#include "proxy/daemon/runtime/web_server.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/ip/address.hpp>
#include <iterator>
#include <sstream>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "proxy/daemon/status/live_view.hpp"
#include "proxy/daemon/status/metrics_page.hpp"
#include "proxy/daemon/status/routes.hpp"

namespace sluice::proxy {

WebServer::WebServer(boost::asio::io_context& context, const Config& config, Program program)
    : program_(std::move(program)) {
  if (config.page) {
    const PageSettings& page = *config.page;
    history_.emplace();
    page_.emplace(context, page::Access{page.token, page.beyond_loopback, page.names}, page_program(page.switch_modes));
  }
  const http::HttpServer::Endpoint listen(boost::asio::ip::make_address(config.metrics.listen->address.to_string()),
                                          config.metrics.listen->port);
  server_.emplace(context, listen, "metrics.listen", [this](const http::Request& request) { return answer(request); });
  const std::string address = http::address_of(server_->local());
  spdlog::info("metrics: {}metrics", address);
  if (page_) spdlog::info("page: {}", address);
}

void WebServer::record_history() {
  if (history_) history_->add(totals_of(program_.status_source, dpdk::now()));
}

http::HttpServer::Reply WebServer::answer(const http::Request& request) {
  constexpr unsigned not_found = 404;
  const auto page = [this](metrics::Format format) { return metrics_page(format); };
  if (auto reply = metrics::answer(request, page, program_.healthy)) {
    return std::move(*reply);
  }
  if (!page_) return http::plain(not_found, "there is /metrics and /health\n");
  if (auto reply = page_->answer(request)) return std::move(*reply);
  return http::plain(not_found, "there is /, /metrics and /health\n");
}

std::string WebServer::metrics_page(metrics::Format format) const {
  program_.status_source.refresh();
  return write_metrics(
      program_.status_source,
      {program_.reloader.last_reload_successful(), program_.processor_times(), dpdk::now(), process_statistics_.read()},
      format);
}

page::Program WebServer::page_program(bool switch_modes) {
  page::Program program{[this](const std::function<void(const std::string&)>& take) { look(take); },
                        {},
                        [this] { return history_->rows().json(); }};
  if (switch_modes) program.switch_mode = [this](const std::string& mode) { return switch_mode(mode); };
  return program;
}

void WebServer::look(const std::function<void(const std::string&)>& take) {
  program_.details.both(max_shown, max_shown, [this, take](const admin::Answer& details) {
    program_.status_source.refresh();
    const bool switch_modes = program_.status_source.parts().config->page->switch_modes;
    const std::vector<ModeAvailability> modes =
        switch_modes ? program_.reloader.modes() : std::vector<ModeAvailability>();
    admin::Json view = live_view(program_.status_source, {program_.processor_times(), modes, dpdk::now()}, details);
    view["sample"] = admin::Json::parse(history_->rows().newest_json());
    take(view.dump(-1, ' ', false, admin::Json::error_handler_t::replace));
  });
}

std::optional<std::string> WebServer::switch_mode(const std::string& mode) {
  std::istringstream words(mode);
  const admin::Answer answer = program_.reloader.mode({std::istream_iterator<std::string>(words), {}});
  std::optional<std::string> problem = answer.ok ? std::nullopt : std::optional(answer.value.get<std::string>());
  spdlog::info("page: mode {}: {}", mode, problem.value_or("in force"));
  return problem;
}

}  // namespace sluice::proxy

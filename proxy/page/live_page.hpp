#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "proxy/http/event_stream.hpp"
#include "proxy/http/http_server.hpp"
#include "proxy/page/guard.hpp"

namespace sluice::page {

/// What the page shows, and what it can change.
struct Program {
  /// Hands one line of JSON with all that the page shows to its argument, now or later, at most once.
  std::function<void(std::function<void(const std::string&)> take)> look;
  /// Puts a mode in force, given as in `sluicectl mode`. Returns why it could not be, or nothing. Empty where the page
  /// only shows.
  std::function<std::optional<std::string>(const std::string& mode)> switch_mode;
};

/// The live page of a program: GET / is the page, GET /events what it shows, twice a second for as long as somebody
/// looks, POST /mode switches. All but the page itself needs the token. Thread: that of the io_context.
class LivePage {
 public:
  LivePage(boost::asio::io_context& context, Access access, Program program, http::EventLimits limits = {});

  /// Nothing for paths that are not the page's.
  [[nodiscard]] std::optional<http::HttpServer::Reply> answer(const http::Request& request);

 private:
  [[nodiscard]] http::Response show() const;
  [[nodiscard]] http::HttpServer::Reply watch(const http::Request& request);
  [[nodiscard]] http::Response switch_mode(const http::Request& request) const;
  void look();
  void look_after(std::chrono::milliseconds delay);

  Guard guard_;
  Program program_;
  std::string policy_;  ///< Content-Security-Policy of the page
  http::EventStream events_;
  boost::asio::steady_timer timer_;
  bool looking_ = false;  ///< at the program, or between two looks
};

}  // namespace sluice::page

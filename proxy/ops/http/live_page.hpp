#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "proxy/ops/http/event_stream.hpp"
#include "proxy/ops/http/guard.hpp"
#include "proxy/ops/http/http_server.hpp"

namespace sluice::page {

/// Functions of the program that the live page calls.
struct Program {
  /// Collects all data of the page as one line of JSON, and passes it to `take`, now or later, at most once.
  std::function<void(std::function<void(const std::string&)> take)> look;
  /// Activates a mode, given as in `sluicectl mode`. Returns an error message, or nothing on success. The function is
  /// empty if the page must not switch modes.
  std::function<std::optional<std::string>(const std::string& mode)> switch_mode;
  /// Returns the values of the last hour, as History::json() does. The function is empty if none are kept.
  std::function<std::string()> history{};
};

/// Live page of a program. GET / is the page, and GET /history the values of the last hour. GET /events is a stream
/// with two events per second while a client watches. POST /mode switches the mode. All but GET / need the token.
/// Thread: that of the io_context.
class LivePage {
 public:
  LivePage(boost::asio::io_context& context, Access access, Program program, http::EventLimits limits = {});

  /// Answers an HTTP request. Returns nothing for paths that do not belong to the page.
  [[nodiscard]] std::optional<http::HttpServer::Reply> answer(const http::Request& request);

 private:
  [[nodiscard]] http::Response show() const;
  [[nodiscard]] http::HttpServer::Reply watch(const http::Request& request);
  [[nodiscard]] http::Response show_history(const http::Request& request) const;
  [[nodiscard]] http::Response switch_mode(const http::Request& request) const;
  /// Sends the program's current state to all clients, and repeats that while there are any.
  void look();
  void min_window_check(std::chrono::milliseconds delay);

  Guard guard_;
  Program program_;
  std::string policy_;  ///< value of the page's Content-Security-Policy header
  http::EventStream events_;
  boost::asio::steady_timer timer_;
  bool looking_ = false;  ///< true while the program's state is being collected, or while its collection is scheduled
};

}  // namespace sluice::page

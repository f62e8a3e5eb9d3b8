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

/// Functions through which the live page gets data from the program and controls it.
struct Program {
  /// collects all data of the page and passes them to `take` as one line of JSON, at once or later; calls `take` at
  /// most once
  std::function<void(std::function<void(const std::string&)> take)> look;
  /// Activates a mode, whose name is written as in `sluicectl mode`. Returns an error message, or nothing on success.
  /// Not set if the page must not change the mode.
  std::function<std::optional<std::string>(const std::string& mode)> switch_mode;
  /// returns the values of the last hour in the format of History::json(); not set if no history is kept
  std::function<std::string()> history{};
};

/// Live page of a program. GET / returns the page, and GET /history the values of the last hour. GET /events returns a
/// stream of two events per second while there are clients. POST /mode changes the mode. All requests except GET / need
/// the token. Thread: that of the io_context.
class LivePage {
 public:
  LivePage(boost::asio::io_context& context, Access access, Program program, http::EventLimits limits = {});

  /// Answers an HTTP request. Returns nothing if the path does not belong to the page.
  [[nodiscard]] std::optional<http::HttpServer::Reply> answer(const http::Request& request);

 private:
  [[nodiscard]] http::Response show() const;
  [[nodiscard]] http::HttpServer::Reply watch(const http::Request& request);
  [[nodiscard]] http::Response show_history(const http::Request& request) const;
  [[nodiscard]] http::Response switch_mode(const http::Request& request) const;
  /// Sends the current state of the program to all clients of GET /events, and repeats this every 500 ms while there
  /// are clients.
  void look();
  void schedule_look(std::chrono::milliseconds delay);

  Guard guard_;
  Program program_;
  std::string policy_;  ///< value of the page's Content-Security-Policy header
  http::EventStream events_;
  boost::asio::steady_timer timer_;
  /// true while the state of the program is being collected, or while a later collection is scheduled
  bool is_collecting_ = false;
};

}  // namespace sluice::page

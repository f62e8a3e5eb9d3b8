#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "proxy/metrics/exposition.hpp"

namespace sluice::metrics {

/// What clients may take of the program's time and memory.
struct HttpLimits {
  std::size_t connections = 16;                ///< a further one takes the place of who has been silent for longest
  std::size_t header_bytes = 4096;             ///< of one request
  std::chrono::milliseconds patience{10'000};  ///< for a request to come whole, and for its answer to be taken
};

/// Serves a page of metrics over HTTP: GET (or HEAD) /metrics, and /health for who only asks whether the program
/// answers. Runs on the thread of the io_context.
class HttpServer {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  /// Writes the page as it is now.
  using Page = std::function<std::string(Format)>;

  /// Binds and listens. Throws std::runtime_error when the address cannot be had.
  HttpServer(boost::asio::io_context& context, const Endpoint& listen, Page page, HttpLimits limits = {});
  /// Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Where it listens; with the port that was given for port 0.
  [[nodiscard]] Endpoint local() const { return acceptor_.local_endpoint(); }

 private:
  class Connection;
  void accept();
  void accept_later();
  void make_room();

  Page page_;
  HttpLimits limits_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::uint64_t turns_ = 0;  ///< times that a connection began to wait for a request
};

}  // namespace sluice::metrics

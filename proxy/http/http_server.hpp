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
#include <variant>

#include "proxy/http/event_stream.hpp"
#include "proxy/http/message.hpp"

namespace sluice::http {

/// What clients may take of the program's time and memory.
struct HttpLimits {
  std::size_t connections = 16;     ///< a further one takes the place of one of the address that has the most
  std::size_t header_bytes = 4096;  ///< of one request
  std::size_t body_bytes = 256;     ///< likewise
  std::chrono::milliseconds patience{10'000};  ///< for a request to come whole, and for its answer to be taken
};

/// An HTTP server: requests in, what a handler says out. Runs on the thread of the io_context.
class HttpServer {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  /// A response, or events from now on: the stream, which outlives the server, takes the connection over.
  using Reply = std::variant<Response, EventStream*>;
  /// Answers a request. The body of what HEAD asks for is left out here.
  using Handler = std::function<Reply(const Request&)>;

  /// Binds and listens. Throws std::runtime_error, with the name of the key, when the address cannot be had.
  HttpServer(boost::asio::io_context& context, const Endpoint& listen, const std::string& key, Handler handler,
             HttpLimits limits = {});
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

  Handler handler_;
  HttpLimits limits_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::uint64_t turns_ = 0;  ///< times that a connection began to wait for a request, or went on with its answer
};

/// "http://127.0.0.1:9838/", "http://[::1]:9838/".
[[nodiscard]] std::string address_of(const HttpServer::Endpoint& endpoint);

}  // namespace sluice::http

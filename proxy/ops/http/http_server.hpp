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

#include "proxy/ops/http/event_stream.hpp"
#include "proxy/ops/http/message.hpp"

namespace sluice::http {

/// Limits of the memory and time that HTTP clients may use.
struct HttpLimits {
  /// maximum number of connections; a further one replaces a connection of the client address with the most connections
  std::size_t connections = 16;
  std::size_t header_bytes = 4096;            ///< maximum header length of a request in bytes
  std::size_t body_bytes = 256;               ///< maximum body length of a request in bytes
  std::chrono::milliseconds timeout{10'000};  ///< maximum time to receive a request, and also to send its response
};

/// HTTP server that passes requests to a handler. Thread: that of the io_context.
class HttpServer {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  /// Response of a handler: a complete response, or an event stream to which the connection is added. The stream must
  /// outlive the server.
  using Reply = std::variant<Response, EventStream*>;
  /// Function that answers a request. The server itself omits the body of a response to HEAD, so the function need not.
  using Handler = std::function<Reply(const Request&)>;

  /// Binds the address `listen` and listens on it. Throws std::runtime_error if the address is not available; its text
  /// contains the configuration key `key`.
  HttpServer(boost::asio::io_context& context, const Endpoint& listen, const std::string& key, Handler handler,
             HttpLimits limits = {});
  /// Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the local address. If port 0 was requested, it contains the port that the kernel has assigned.
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
  /// Number of times that a connection has made progress, over all connections; see Connection::last_progress().
  std::uint64_t progress_count_ = 0;
};

/// Returns the URL of a local address, such as "http://127.0.0.1:9838/" or "http://[::1]:9838/".
[[nodiscard]] std::string address_of(const HttpServer::Endpoint& endpoint);

}  // namespace sluice::http

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "proxy/admin/command.hpp"
#include "proxy/admin/socket_file.hpp"

namespace sluice::admin {

/// What clients may take of the program's time and memory.
struct ServerLimits {
  std::size_t connections = 16;  ///< further ones are told so and closed
  std::size_t line_bytes = 8192;
  std::chrono::milliseconds idle{30'000};  ///< a connection that says nothing, or takes no answer, is closed
};

/// Answers commands on a Unix stream socket: a line in, a line of JSON out, one after the other; bytes behind the last
/// line where its answer has a stream. Runs on the thread of the io_context. Who may connect is a matter of the
/// socket's file: see SocketFile.
class Server {
 public:
  /// Where the server says what an operator should know.
  using Warn = std::function<void(const std::string&)>;

  /// Binds and listens. A socket file on which nobody answers is a leftover and removed; a live one, or a file of
  /// another kind, is refused. While clients cannot be let in, because the program has no file descriptor left for one,
  /// it is said once and tried again now and then; they wait meanwhile. Throws std::runtime_error with the reason and
  /// what to do.
  Server(boost::asio::io_context& context, SocketPlace place, CommandTable commands, ServerLimits limits = {},
         Warn warn = {});
  /// Closes every connection and removes the socket's file.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;
  void accept();
  void accept_later(const boost::system::error_code& why);
  void begin(boost::asio::local::stream_protocol::socket socket);

  CommandTable commands_;
  ServerLimits limits_;
  Warn warn_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  SocketFile file_;
  boost::asio::steady_timer pause_;
  bool shut_out_ = false;  ///< the last client could not be let in
  std::set<std::shared_ptr<Connection>> connections_;
};

}  // namespace sluice::admin

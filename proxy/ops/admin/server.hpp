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

#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/admin/socket_file.hpp"

namespace sluice::admin {

/// Bounds on the memory and time that the clients of the admin socket may use.
struct ServerLimits {
  std::size_t connections = 16;  ///< maximum number of connections; a further client gets an error and is closed
  std::size_t line_bytes = 8192;
  /// Time after which a connection is closed if its client sends no request, or does not receive the answer.
  std::chrono::milliseconds idle{30'000};
};

/// Answers commands on a Unix stream socket. Each line is answered by a line of JSON; a stream of bytes may follow
/// the last one. The file's permissions decide who may connect, see SocketFile. Thread: that of the io_context.
class Server {
 public:
  /// Function that reports a problem to the operator.
  using Warn = std::function<void(const std::string&)>;

  /// Binds the socket and listens. A socket file without a listening program is removed; a live one, or a file of
  /// another kind, is refused. While accept() fails for lack of file descriptors, clients wait, one warning is
  /// reported, and accept() is repeated. Throws std::runtime_error with the reason and advice.
  Server(boost::asio::io_context& context, SocketPlace place, CommandTable commands, ServerLimits limits = {},
         Warn warn = {});
  /// Closes every connection and removes the socket file.
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
  bool shut_out_ = false;  ///< true if the last accept() failed; the failure was already reported
  std::set<std::shared_ptr<Connection>> connections_;
};

}  // namespace sluice::admin

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/admin/socket_file.hpp"

namespace sluice::admin {

/// Limits of the memory and time that clients of the admin socket may use.
struct ServerLimits {
  /// Maximum number of connections. If a further client connects, the server closes the connection of the client that
  /// has been silent for the longest time. If no client is silent, the further client gets an error.
  std::size_t connections = 16;
  std::size_t line_bytes = 8192;
  /// Time after which the connection of a client is closed if the client sends no request or does not read the answer.
  std::chrono::milliseconds idle{30'000};
  /// Time for which a client that has sent a request may be silent before its connection may be closed to admit another
  /// client. A client that has sent no request yet may be closed at once.
  std::chrono::milliseconds patience{3'000};
};

/// Answers commands on a Unix stream socket. A command is one line, and its answer is one line of JSON. After the last
/// answer a stream of bytes may follow. The permissions of the socket file determine who may connect; see SocketFile.
/// Thread: that of the io_context.
class Server {
 public:
  /// Function that reports a problem to the operator.
  using Warn = std::function<void(const std::string&)>;

  /// Binds the socket at `place` and listens on it. Removes an existing socket file if no program listens on it; any
  /// other existing file is an error. If accept() fails because file descriptors are missing, clients wait, `warn` is
  /// called once, and accept() is repeated. Throws std::runtime_error with the reason and advice.
  Server(boost::asio::io_context& context, SocketPlace place, CommandTable commands, ServerLimits limits = {},
         Warn warn = {});
  /// Closes every connection and removes the socket file.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  /// Returns how many connections of silent clients were closed to admit another client.
  [[nodiscard]] std::uint64_t displaced() const { return displaced_; }

 private:
  class Connection;
  void accept();
  void accept_later(const boost::system::error_code& why);
  void begin(boost::asio::local::stream_protocol::socket socket);
  [[nodiscard]] bool displace_one();

  CommandTable commands_;
  ServerLimits limits_;
  Warn warn_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  SocketFile file_;
  boost::asio::steady_timer pause_;
  /// true if the last call of accept() has failed, so that a further failure causes no further warning
  bool shut_out_ = false;
  std::set<std::shared_ptr<Connection>> connections_;
  std::uint64_t displaced_ = 0;
};

}  // namespace sluice::admin

// Serves the admin socket: reads command lines, writes answers, and streams captures and decision logs. Runtime creates
// it. Invariant: input, connections and idle time of clients are bounded, and a client that reads slowly delays only
// its own stream. Silent clients do not keep others out.
#include "proxy/ops/admin/server.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

namespace sluice::admin {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

/// Delay before accept() is called again after an error, because a missing resource (such as a file descriptor) is
/// rarely available at once.
constexpr auto pause_after_error = std::chrono::milliseconds(100);

/// Interval at which a byte stream is polled while it has no data.
constexpr auto pause_of_stream = std::chrono::milliseconds(20);
/// Maximum number of bytes requested from a byte stream at once.
constexpr std::size_t stream_bytes = std::size_t{256} << 10U;

}  // namespace

/// Connection of one client.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, stream_protocol::socket socket)
      : server_(&server),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        stream_timer_(socket_.get_executor()) {}

  void start() { read(); }

  /// Returns the time since which the server waits for the client to send or read. Returns nothing if the server does
  /// not wait, or if the connection must not yet be closed to admit another client (ServerLimits::patience).
  [[nodiscard]] std::optional<Clock::time_point> silent_since(Clock::time_point now) const {
    const bool is_silent = waits_ && (!asked_ || now - since_ >= server_->limits_.patience);
    return is_silent ? std::optional(since_) : std::nullopt;
  }

  /// Sends an error message to the client and closes the connection.
  void dismiss(const std::string& why) {
    last_ = true;
    write(Answer::failure(why));
  }

  void close() {
    server_ = nullptr;
    error_code ignored;
    timer_.cancel(ignored);
    stream_timer_.cancel(ignored);
    socket_.close(ignored);
    stream_.reset();
  }

  void leave() {
    if (server_ != nullptr) server_->connections_.erase(shared_from_this());
    close();
  }

 private:
  /// Starts the idle timer, at whose expiry the connection is closed. Each call restarts it, and stop_watching()
  /// cancels it.
  void watch() {
    waits_ = true;
    since_ = Clock::now();
    timer_.expires_after(server_->limits_.idle);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->leave();
    });
  }

  /// Cancels the idle timer, because the server has something to do for the client.
  void stop_watching() {
    waits_ = false;
    error_code ignored;
    timer_.cancel(ignored);
  }

  void read() {
    watch();
    boost::asio::async_read_until(
        socket_, boost::asio::dynamic_buffer(input_, server_->limits_.line_bytes), '\n',
        [self = shared_from_this()](const error_code& error, std::size_t length) { self->on_line(error, length); });
  }

  void on_line(const error_code& error, std::size_t length) {
    if (server_ == nullptr) return;
    if (error == boost::asio::error::not_found) return dismiss("the line is too long");
    if (error) return leave();
    const std::string line = input_.substr(0, length - 1);
    input_.erase(0, length);
    asked_ = true;
    stop_watching();  // a command may take long; its own deadline bounds it
    server_->commands_.run(line, [self = shared_from_this(), done = false](const Answer& answer) mutable {
      if (!std::exchange(done, true)) self->write(answer);
    });
  }

  void write(const Answer& answer) {
    if (server_ == nullptr) return;
    output_ = answer.to_line();
    stream_ = answer.stream;
    watch();
    boost::asio::async_write(socket_, boost::asio::buffer(output_),
                             [self = shared_from_this()](const error_code& error, std::size_t) {
                               if (self->server_ == nullptr) return;
                               if (error || self->last_) return self->leave();
                               if (self->stream_) return self->begin_stream();
                               self->read();
                             });
  }

  void begin_stream() {
    await_hang_up();
    pass_on();
  }

  /// Ends the byte stream as soon as the client closes its sending direction or sends something.
  void await_hang_up() {
    socket_.async_read_some(boost::asio::buffer(last_words_),
                            [self = shared_from_this()](const error_code&, std::size_t) {
                              if (self->server_ != nullptr && self->stream_) self->stream_->finish();
                            });
  }

  /// Sends available bytes of the byte stream to the client. While the client does not read, later bytes remain in the
  /// stream.
  void pass_on() {
    output_.clear();
    const bool more = stream_->take(output_, stream_bytes);
    last_ = !more;
    stop_watching();
    if (!output_.empty()) return send_part(0);
    if (last_) return leave();
    stream_timer_.expires_after(pause_of_stream);
    stream_timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error && self->server_ != nullptr) self->pass_on();
    });
  }

  void send_part(std::size_t begin) {
    if (begin == output_.size()) return last_ ? leave() : pass_on();
    watch();
    socket_.async_write_some(boost::asio::buffer(output_) + begin,
                             [self = shared_from_this(), begin](const error_code& error, std::size_t sent) {
                               if (self->server_ == nullptr) return;
                               if (error) return self->leave();
                               self->send_part(begin + sent);
                             });
  }

  Server* server_;  ///< server to which this connection belongs; null once the connection is closed
  stream_protocol::socket socket_;
  boost::asio::steady_timer timer_;
  Clock::time_point since_;  ///< time at which the server began to wait for the client; valid if `waits_` is true
  bool waits_ = false;       ///< true while the server waits for the client to send a request or to read the answer
  bool asked_ = false;       ///< true once the client has sent a request
  std::string input_;
  std::string output_;
  bool last_ = false;
  std::shared_ptr<ByteStream> stream_;  ///< byte stream that follows the answer; null if there is none
  boost::asio::steady_timer stream_timer_;
  std::array<char, 1> last_words_{};
};

Server::Server(boost::asio::io_context& context, SocketPlace place, CommandTable commands, ServerLimits limits,
               Warn warn)
    : commands_(std::move(commands)),
      limits_(limits),
      warn_(std::move(warn)),
      acceptor_(context),
      file_(context, std::move(place), acceptor_),
      pause_(context) {
  error_code error;
  acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) throw std::runtime_error("the admin socket " + path() + " cannot be opened: " + error.message());
  accept();
}

Server::~Server() {
  for (const auto& connection : connections_) connection->close();
}

void Server::accept() {
  acceptor_.async_accept([this](const error_code& error, stream_protocol::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) return accept_later(error);
    shut_out_ = false;
    begin(std::move(socket));
    accept();
  });
}

void Server::accept_later(const error_code& why) {
  if (!std::exchange(shut_out_, true) && warn_) {
    warn_("the admin socket " + path() + " cannot accept a client: " + why.message() + "; it is tried again");
  }
  pause_.expires_after(pause_after_error);
  pause_.async_wait([this](const error_code& error) {
    if (!error) accept();
  });
}

void Server::begin(stream_protocol::socket socket) {
  while (connections_.size() >= limits_.connections && displace_one()) {
  }
  const bool full = connections_.size() >= limits_.connections;
  const auto connection = std::make_shared<Connection>(*this, std::move(socket));
  // One connection beyond the limit receives an error; further ones are closed at once.
  if (connections_.size() > limits_.connections) return connection->close();
  connections_.insert(connection);
  if (full) {
    connection->dismiss("too many connections");
  } else {
    connection->start();
  }
}

/// Closes the connection whose client has been silent for the longest time. Returns false if no client is silent
/// (Connection::silent_since()).
bool Server::displace_one() {
  const Clock::time_point now = Clock::now();
  std::shared_ptr<Connection> oldest;
  Clock::time_point since = Clock::time_point::max();
  for (const auto& connection : connections_) {
    const auto silent = connection->silent_since(now);
    if (!silent || *silent >= since) continue;
    since = *silent;
    oldest = connection;
  }
  if (oldest == nullptr) return false;
  ++displaced_;
  oldest->leave();
  return true;
}

}  // namespace sluice::admin

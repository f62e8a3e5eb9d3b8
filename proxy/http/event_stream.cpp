#include "proxy/http/event_stream.hpp"

#include <array>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>
#include <vector>

namespace sluice::http {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Text = std::shared_ptr<const std::string>;

/// The answer has no length: it ends with the connection.
constexpr const char* head =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Connection: close\r\n\r\n";

}  // namespace

/// One that watches.
class EventStream::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(EventStream& stream, tcp::socket socket)
      : stream_(&stream), socket_(std::move(socket)), late_(stream.context_) {}

  void start() {
    error_code ignored;
    socket_.set_option(boost::asio::socket_base::send_buffer_size(stream_->limits_.send_buffer), ignored);
    socket_.set_option(tcp::no_delay(true), ignored);
    await_end();
    write(std::make_shared<const std::string>(head));
  }

  /// While an earlier event is being taken this one waits, in the place of one that waited.
  void write(Text text) {
    if (writing_) {
      next_ = std::move(text);
      return;
    }
    writing_ = std::move(text);
    late_.expires_after(stream_->limits_.patience);
    late_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->leave();
    });
    boost::asio::async_write(socket_, boost::asio::buffer(*writing_),
                             [self = shared_from_this()](const error_code& error, std::size_t) {
                               self->late_.cancel();
                               self->writing_.reset();
                               if (error || self->stream_ == nullptr) return self->leave();
                               if (self->next_) self->write(std::exchange(self->next_, nullptr));
                             });
  }

  void close() {
    stream_ = nullptr;
    late_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void leave() {
    if (stream_ == nullptr) return;
    stream_->clients_.erase(shared_from_this());
    close();
  }

  /// A client has nothing more to say; what it says is read so that its end is noticed.
  void await_end() {
    socket_.async_read_some(boost::asio::buffer(unread_),
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error) return self->leave();
                              self->await_end();
                            });
  }

  EventStream* stream_;  ///< null once closed
  tcp::socket socket_;
  boost::asio::steady_timer late_;
  Text writing_;
  Text next_;
  std::array<char, 256> unread_{};
};

EventStream::~EventStream() {
  for (const auto& client : clients_) client->close();
}

void EventStream::add(tcp::socket socket) {
  if (full()) return;
  const auto client = std::make_shared<Client>(*this, std::move(socket));
  clients_.insert(client);
  client->start();
}

void EventStream::send(const std::string& data) {
  const auto event = std::make_shared<const std::string>("data: " + data + "\n\n");
  for (const auto& client : clients_) client->write(event);
}

}  // namespace sluice::http

// Sends server-sent events (WHATWG HTML section 9.2) to the clients of the live pages. HttpServer passes connections
// to add(); the page calls send(). Invariant: a client costs at most two events and one kernel send buffer, however
// slowly it reads.
#include "proxy/ops/http/event_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::http {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Text = std::shared_ptr<const std::string>;

/// Headers of the response that begins an event stream. The response has no Content-Length, because it ends when the
/// connection is closed.
constexpr const char* head =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Connection: close\r\n\r\n";

/// Returns the right edge of the window that the peer of a TCP connection advertises, in bytes from the start of the
/// connection. The edge moves only if the client program reads, because the client's kernel acknowledges data until its
/// receive buffer is full. Returns nothing if the kernel does not report the edge (Linux before 5.4).
std::optional<std::uint64_t> window_edge_of(int socket) {
  // Offsets in struct tcp_info of linux/tcp.h, a stable ABI. The C library's struct ends before these fields.
  constexpr std::size_t bytes_acked_at = 120;
  constexpr std::size_t peer_window_at = 228;
  std::array<char, peer_window_at + sizeof(std::uint32_t)> information{};
  socklen_t length = information.size();
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, information.data(), &length) != 0 || length < information.size())
    return std::nullopt;
  std::uint64_t acked = 0;
  std::uint32_t window = 0;
  std::memcpy(&acked, information.data() + bytes_acked_at, sizeof acked);
  std::memcpy(&window, information.data() + peer_window_at, sizeof window);
  return acked + window;
}

}  // namespace

/// Connection of a client that receives events.
class EventStream::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(EventStream& stream, tcp::socket socket, boost::asio::ip::address address)
      : stream_(&stream), socket_(std::move(socket)), address_(std::move(address)), late_(stream.context_) {}

  void start() {
    error_code ignored;
    socket_.set_option(boost::asio::socket_base::send_buffer_size(stream_->limits_.send_buffer), ignored);
    socket_.set_option(tcp::no_delay(true), ignored);
    await_end();
    write(std::make_shared<const std::string>(head));
  }

  [[nodiscard]] const boost::asio::ip::address& address() const { return address_; }
  /// Returns how many consecutive events were written to the client since it last read something.
  [[nodiscard]] std::uint64_t unread() {
    look();
    return unread_;
  }

  /// Writes an event to the client. If an earlier event is still being sent, the new one is stored until then. It
  /// replaces an event that was stored before.
  void write_event(Text text) {
    look();
    ++unread_;
    write(std::move(text));
  }

  void close() {
    stream_ = nullptr;
    late_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void write(Text text) {
    if (writing_) {
      next_ = std::move(text);
      return;
    }
    writing_ = std::move(text);
    late_.expires_after(stream_->limits_.timeout);
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

  /// Resets the number of unread events to zero if the client has read something since the last call. Always resets it
  /// if the kernel does not report what the client reads.
  void look() {
    const std::optional<std::uint64_t> edge = window_edge_of(socket_.native_handle());
    if (edge && *edge <= edge_) return;
    edge_ = edge.value_or(0);
    unread_ = 0;
  }

  void leave() {
    if (stream_ == nullptr) return;
    stream_->clients_.erase(shared_from_this());
    close();
  }

  /// Reads and discards data from the client in order to detect that it closes the connection.
  void await_end() {
    socket_.async_read_some(boost::asio::buffer(said_),
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error) return self->leave();
                              self->await_end();
                            });
  }

  EventStream* stream_;  ///< event stream to which this client belongs; null once the connection is closed
  tcp::socket socket_;
  boost::asio::ip::address address_;
  boost::asio::steady_timer late_;
  std::uint64_t edge_ = 0;    ///< right edge of the client's window (window_edge_of()) at the last call of look()
  std::uint64_t unread_ = 0;  ///< number of events written since the right edge of the client's window last moved
  Text writing_;
  Text next_;
  std::array<char, 256> said_{};
};

EventStream::~EventStream() {
  for (const auto& client : clients_) client->close();
}

bool EventStream::can_accept(const boost::asio::ip::address& address) const {
  return clients_.size() < limits_.clients || replaceable_by(address) != clients_.end();
}

EventStream::Clients::const_iterator EventStream::replaceable_by(const boost::asio::ip::address& address) const {
  std::map<boost::asio::ip::address, std::size_t> places;
  for (const auto& client : clients_) ++places[client->address()];
  const auto may_keep = [&](const std::shared_ptr<Client>& client) {
    const bool is_greedy = client->address() != address && 2 * places[client->address()] > limits_.clients;
    return client->unread() < limits_.unread && !is_greedy;
  };
  // A client that reads is closed only after all clients that read less recently.
  auto victim = clients_.end();
  for (auto each = clients_.begin(); each != clients_.end(); ++each) {
    if (may_keep(*each)) continue;
    if (victim == clients_.end() || (*each)->unread() > (*victim)->unread()) victim = each;
  }
  return victim;
}

void EventStream::add(tcp::socket socket) {
  error_code gone;
  const boost::asio::ip::address address = socket.remote_endpoint(gone).address();
  if (gone) return;
  if (clients_.size() >= limits_.clients) {
    const auto victim = replaceable_by(address);
    if (victim == clients_.end()) return;
    (*victim)->close();
    clients_.erase(victim);
  }
  const auto client = std::make_shared<Client>(*this, std::move(socket), address);
  clients_.insert(client);
  client->start();
}

void EventStream::send(const std::string& data) {
  const auto event = std::make_shared<const std::string>("data: " + data + "\n\n");
  for (const auto& client : clients_) client->write_event(event);
}

}  // namespace sluice::http

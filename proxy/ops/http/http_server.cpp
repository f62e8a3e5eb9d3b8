// Minimal HTTP/1.1 server for metrics, health and the live pages, on Boost.Beast (RFC 9110, RFC 9112). WebServer and
// the emulator's radio page create it. Invariant: connections, header and body sizes and times are bounded. A request
// that can be read in more than one way is rejected before the handler sees it.
#include "proxy/ops/http/http_server.hpp"

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "proxy/ops/http/target.hpp"

namespace sluice::http {
namespace {

namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;
using WireRequest = wire::request<wire::string_body>;
using WireResponse = wire::response<wire::string_body>;

/// Delay before accept() is called again after an error, because a missing resource (such as a file descriptor) is
/// rarely available at once.
constexpr auto pause_after_error = std::chrono::milliseconds(100);

std::string text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

/// True for a loopback address, including an IPv4 loopback address that is mapped to IPv6.
bool is_loopback(const boost::asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.is_loopback();
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

constexpr unsigned bad_request = 400;

/// Returns an error response for a request that the parser accepts although its host, its target or the end of its body
/// is ambiguous. Returns nothing for a valid request.
std::optional<Response> refuse(const WireRequest& from) {
  constexpr unsigned not_implemented = 501;
  constexpr unsigned http_1_1 = 11;
  const std::size_t hosts = from.count(wire::field::host);
  if (hosts > 1 || (hosts == 0 && from.version() >= http_1_1)) return plain(bad_request, "one Host is needed\n");
  if (!read_authority(text_of(from[wire::field::host]))) return plain(bad_request, "Host is no host and port\n");
  if (!read_target(text_of(from.target()))) return plain(bad_request, "the target cannot be read\n");
  if (from.count(wire::field::content_length) > 1) return plain(bad_request, "one Content-Length at most\n");
  if (from.count(wire::field::transfer_encoding) == 0) return std::nullopt;
  if (from.version() < http_1_1) return plain(bad_request, "Transfer-Encoding is of HTTP/1.1\n");
  if (from.count(wire::field::transfer_encoding) == 1 &&
      beast::iequals(from[wire::field::transfer_encoding], "chunked"))
    return std::nullopt;
  return plain(not_implemented, "a Transfer-Encoding other than chunked\n");
}

/// Converts a request for which refuse() has returned nothing. If the target is absolute, the target's authority
/// replaces the header Host (RFC 9112 section 3.2.2).
Request to_request(const WireRequest& from, const boost::asio::ip::address& client) {
  Target target = read_target(text_of(from.target())).value_or(Target{});
  const std::string host = text_of(from[wire::field::host]);
  return {text_of(from.method_string()),
          std::move(target.path),
          target.authority.empty() ? host : std::move(target.authority),
          text_of(from[wire::field::origin]),
          text_of(from["Sec-Fetch-Site"]),
          text_of(from[wire::field::authorization]),
          text_of(from[wire::field::accept]),
          from.body(),
          client,
          is_loopback(client)};
}

WireResponse to_wire(Response from) {
  constexpr unsigned version = 11;  // HTTP/1.1
  WireResponse response(wire::int_to_status(from.status), version);
  response.set(wire::field::content_type, from.type);
  for (const auto& [name, value] : from.headers) response.set(name, value);
  response.body() = std::move(from.body);
  return response;
}

unsigned status_of(const error_code& error) {
  constexpr unsigned payload_too_large = 413;
  constexpr unsigned header_fields_too_large = 431;
  if (error == wire::error::header_limit) return header_fields_too_large;
  if (error == wire::error::body_limit) return payload_too_large;
  return bad_request;
}

}  // namespace

/// Connection of one client.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer& server, tcp::socket socket, boost::asio::ip::address client)
      : server_(&server),
        client_(std::move(client)),
        stream_(std::move(socket)),
        buffer_(2 * server.limits_.header_bytes + server.limits_.body_bytes) {}

  void read() {
    last_progress_ = ++server_->progress_count_;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_->limits_.header_bytes));
    parser_->body_limit(server_->limits_.body_bytes);
    stream_.expires_after(server_->limits_.timeout);
    read_behind_empty_lines(max_empty_lines);
  }

  void close() {
    server_ = nullptr;
    stream_.close();
  }

  [[nodiscard]] const boost::asio::ip::address& client() const { return client_; }
  /// Returns the sequence number of the last progress of this connection; a smaller number means earlier progress. A
  /// connection makes progress when it starts to wait for a request, or when a part of a response was written.
  [[nodiscard]] std::uint64_t last_progress() const { return last_progress_; }

 private:
  void leave() {
    if (server_ != nullptr) server_->connections_.erase(shared_from_this());
    close();
  }

  /// Maximum number of empty lines that are ignored before a request line; RFC 9112 section 2.2 requires at least one.
  static constexpr int max_empty_lines = 4;

  /// Reads a request. Ignores up to `most` empty lines in front of the request line.
  void read_behind_empty_lines(int most) {
    constexpr std::string_view empty_line = "\r\n";
    const auto begins = [this] {
      return std::string_view(static_cast<const char*>(buffer_.data().data()),
                              std::min<std::size_t>(buffer_.size(), 2));
    };
    for (; most > 0 && begins() == empty_line; --most) buffer_.consume(empty_line.size());
    if (most > 0 && empty_line.starts_with(begins())) {
      stream_.async_read_some(buffer_.prepare(server_->limits_.header_bytes),
                              [self = shared_from_this(), most](const error_code& error, std::size_t count) {
                                if (error || self->server_ == nullptr) return self->leave();
                                self->buffer_.commit(count);
                                self->read_behind_empty_lines(most);
                              });
      return;
    }
    wire::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const error_code& error, std::size_t) { self->on_request(error); });
  }

  void on_request(const error_code& error) {
    if (server_ == nullptr) return;
    if (!error) return answer(parser_->get());
    // A malformed request is answered with an error. A client that closed the connection or timed out is not.
    const auto& of_http = wire::make_error_code(wire::error::end_of_stream).category();
    if (error.category() != of_http || error == wire::error::end_of_stream) return leave();
    write(plain(status_of(error), error.message() + "\n"), false, false);
  }

  void answer(const WireRequest& request) {
    const bool headers_only = request.method() == wire::verb::head;
    if (std::optional<Response> refused = refuse(request)) return write(*std::move(refused), false, headers_only);
    Reply reply = server_->handler_(to_request(request, client_));
    EventStream** const events = std::get_if<EventStream*>(&reply);
    if (events == nullptr) return write(std::get<Response>(std::move(reply)), request.keep_alive(), headers_only);
    stream_.expires_never();
    (*events)->add(stream_.release_socket());
    leave();
  }

  /// Sends a response. If `headers_only` is true, sends the headers, including Content-Length, but no body (RFC 9110
  /// section 9.3.2).
  void write(Response response, bool keep_alive, bool headers_only) {
    response_ = to_wire(std::move(response));
    response_.keep_alive(keep_alive);
    response_.prepare_payload();
    if (headers_only) response_.body().clear();
    serializer_.emplace(response_);
    stream_.expires_after(server_->limits_.timeout);
    write_on(keep_alive);
  }

  /// Writes the rest of the response in parts. Each part that is written counts as progress of the client
  /// (last_progress()).
  void write_on(bool keep_alive) {
    wire::async_write_some(stream_, *serializer_,
                           [self = shared_from_this(), keep_alive](const error_code& error, std::size_t) {
                             if (self->server_ == nullptr) return;
                             const bool is_whole = self->serializer_->is_done();
                             if (error || (is_whole && !keep_alive)) return self->leave();
                             if (is_whole) return self->read();
                             self->last_progress_ = ++self->server_->progress_count_;
                             self->write_on(keep_alive);
                           });
  }

  HttpServer* server_;  ///< server to which this connection belongs; null once the connection is closed
  boost::asio::ip::address client_;
  std::uint64_t last_progress_ = 0;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  WireResponse response_;

  /// serializer that writes `response_` in parts; set while a response is being sent
  std::optional<wire::response_serializer<wire::string_body>> serializer_;
};

HttpServer::HttpServer(boost::asio::io_context& context, const Endpoint& listen, const std::string& key,
                       Handler handler, HttpLimits limits)
    : handler_(std::move(handler)), limits_(limits), acceptor_(context), pause_(context) {
  try {
    acceptor_.open(listen.protocol());
    acceptor_.set_option(boost::asio::socket_base::reuse_address(true));
    acceptor_.bind(listen);
    acceptor_.listen();
  } catch (const boost::system::system_error& problem) {
    throw std::runtime_error(key + " " + listen.address().to_string() + ":" + std::to_string(listen.port()) +
                             " cannot be bound: " + problem.code().message());
  }
  accept();
}

HttpServer::~HttpServer() {
  for (const auto& connection : connections_) connection->close();
}

void HttpServer::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) return accept_later();
    error_code gone;
    const boost::asio::ip::address client = socket.remote_endpoint(gone).address();
    if (gone) return accept();
    if (connections_.size() >= limits_.connections) make_room();
    const auto connection = std::make_shared<Connection>(*this, std::move(socket), client);
    connections_.insert(connection);
    connection->read();
    accept();
  });
}

/// Closes one connection of the client address that has the most connections, so that no address can exclude others. Of
/// these connections, closes the one that has made no progress for the longest time. A complete request is not lost,
/// because its response is written at once. Then the connection has made progress, or is closed.
void HttpServer::make_room() {
  std::map<boost::asio::ip::address, std::size_t> places;
  for (const auto& connection : connections_) ++places[connection->client()];
  const auto rank = [&](const std::shared_ptr<Connection>& connection) {
    return std::pair(limits_.connections - std::min(places[connection->client()], limits_.connections),
                     connection->last_progress());
  };
  const auto victim = std::ranges::min_element(connections_, {}, rank);
  if (victim == connections_.end()) return;
  (*victim)->close();
  connections_.erase(victim);
}

void HttpServer::accept_later() {
  pause_.expires_after(pause_after_error);
  pause_.async_wait([this](const error_code& error) {
    if (!error) accept();
  });
}

std::string address_of(const HttpServer::Endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return "http://" + (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port()) + "/";
}

}  // namespace sluice::http

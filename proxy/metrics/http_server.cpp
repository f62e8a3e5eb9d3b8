#include "proxy/metrics/http_server.hpp"

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace sluice::metrics {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

/// How long clients wait when one could not be let in: what is missing does not come back by asking at once.
constexpr auto pause_after_error = std::chrono::milliseconds(100);

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

Response plain(http::status status, std::string_view text) {
  constexpr unsigned version = 11;  // 1.1
  Response response(status, version);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = text;
  return response;
}

Response answer(const Request& request, const HttpServer::Page& page) {
  const std::string_view path = view(request.target()).substr(0, view(request.target()).find('?'));
  if (path != "/metrics" && path != "/health") return plain(http::status::not_found, "there is /metrics and /health\n");
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    Response refused = plain(http::status::method_not_allowed, "only GET and HEAD\n");
    refused.set(http::field::allow, "GET, HEAD");
    return refused;
  }
  if (path == "/health") return plain(http::status::ok, "ok\n");
  const Format format = format_for(view(request[http::field::accept]));
  Response response = plain(http::status::ok, page(format));
  const std::string_view type = content_type(format);
  response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  return response;
}

http::status status_of(const error_code& error) {
  if (error == http::error::header_limit) return http::status::request_header_fields_too_large;
  if (error == http::error::body_limit) return http::status::payload_too_large;
  return http::status::bad_request;
}

}  // namespace

/// One client.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer& server, tcp::socket socket)
      : server_(&server), stream_(std::move(socket)), buffer_(2 * server.limits_.header_bytes) {}

  void read() {
    turn_ = ++server_->turns_;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_->limits_.header_bytes));
    parser_->body_limit(0);
    stream_.expires_after(server_->limits_.patience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const error_code& error, std::size_t) { self->on_request(error); });
  }

  void close() {
    server_ = nullptr;
    stream_.close();
  }

  /// Which of the server's waits for a request this is in, or its answer belongs to: the smaller, the longer ago.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }

 private:
  void leave() {
    if (server_ != nullptr) server_->connections_.erase(shared_from_this());
    close();
  }

  void on_request(const error_code& error) {
    if (server_ == nullptr) return;
    if (!error) {
      const Request& request = parser_->get();
      return write(answer(request, server_->page_), request.keep_alive(), request.method() == http::verb::head);
    }
    // What is no request is told so; who has gone, or took too long, is not.
    const auto& of_http = http::make_error_code(http::error::end_of_stream).category();
    if (error.category() != of_http || error == http::error::end_of_stream) return leave();
    write(plain(status_of(error), error.message() + "\n"), false, false);
  }

  /// `headers_only`: as the whole would have them (RFC 9110, 9.3.2).
  void write(Response response, bool keep_alive, bool headers_only) {
    response_ = std::move(response);
    response_.keep_alive(keep_alive);
    response_.prepare_payload();
    if (headers_only) response_.body().clear();
    stream_.expires_after(server_->limits_.patience);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep_alive](const error_code& error, std::size_t) {
                        if (self->server_ == nullptr) return;
                        if (error || !keep_alive) return self->leave();
                        self->read();
                      });
  }

  HttpServer* server_;  ///< null once closed
  std::uint64_t turn_ = 0;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
};

HttpServer::HttpServer(boost::asio::io_context& context, const Endpoint& listen, Page page, HttpLimits limits)
    : page_(std::move(page)), limits_(limits), acceptor_(context), pause_(context) {
  try {
    acceptor_.open(listen.protocol());
    acceptor_.set_option(boost::asio::socket_base::reuse_address(true));
    acceptor_.bind(listen);
    acceptor_.listen();
  } catch (const boost::system::system_error& problem) {
    throw std::runtime_error("metrics.listen " + listen.address().to_string() + ":" + std::to_string(listen.port()) +
                             " cannot be had: " + problem.code().message());
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
    if (connections_.size() >= limits_.connections) make_room();
    const auto connection = std::make_shared<Connection>(*this, std::move(socket));
    connections_.insert(connection);
    connection->read();
    accept();
  });
}

/// Who begins requests and ends none keeps nobody out: a request that comes whole is answered before many others can
/// have come.
void HttpServer::make_room() {
  const auto oldest = std::ranges::min_element(
      connections_, {}, [](const std::shared_ptr<Connection>& connection) { return connection->turn(); });
  if (oldest == connections_.end()) return;
  (*oldest)->close();
  connections_.erase(oldest);
}

void HttpServer::accept_later() {
  pause_.expires_after(pause_after_error);
  pause_.async_wait([this](const error_code& error) {
    if (!error) accept();
  });
}

}  // namespace sluice::metrics

#include "proxy/metrics/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::metrics {
namespace {

using boost::asio::ip::tcp;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A server with its thread on a port of its own.
class Http : public testing::Test {
 protected:
  ~Http() override {
    boost::asio::post(context_, [this] {
      server_.reset();
      context_.stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  void start(HttpLimits limits = {}) {
    const HttpServer::Endpoint anywhere(boost::asio::ip::make_address("127.0.0.1"), 0);
    server_ = std::make_unique<HttpServer>(
        context_, anywhere,
        [](Format format) { return std::string(format == Format::text ? "the text" : "the openmetrics"); }, limits);
    local_ = server_->local();
    thread_ = std::thread([this] { context_.run(); });
  }

  tcp::socket connect() {
    tcp::socket client(clients_);
    client.connect(local_);
    return client;
  }

  /// All that the server says until it closes.
  static std::string rest(tcp::socket& client) {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(client, boost::asio::dynamic_buffer(all), error);
    return all;
  }

  std::string answer_to(const std::string& request) {
    tcp::socket client = connect();
    boost::system::error_code error;
    boost::asio::write(client, boost::asio::buffer(request), error);
    return rest(client);
  }

  boost::asio::io_context context_;
  boost::asio::io_context clients_;
  std::unique_ptr<HttpServer> server_;
  tcp::endpoint local_;
  std::thread thread_;
};

TEST_F(Http, ServesThePageInTheFormatThatIsAskedFor) {
  start();
  const std::string text = answer_to("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nthe text"));
  const std::string open = answer_to(
      "GET /metrics?x HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(open, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_THAT(open, EndsWith("\r\n\r\nthe openmetrics"));
}

TEST_F(Http, ServesSeveralRequestsOfOneConnection) {
  start();
  EXPECT_THAT(answer_to("GET /health HTTP/1.1\r\n\r\nGET /metrics HTTP/1.0\r\n\r\n"),
              testing::AllOf(HasSubstr("\r\n\r\nok\n"), EndsWith("\r\n\r\nthe text")));
}

TEST_F(Http, RefusesEverythingElse) {
  start();
  EXPECT_THAT(answer_to("GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  const std::string post = answer_to("POST /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(answer_to("GET /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer_to("what is this\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("GET /" + std::string(5000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(Http, ClosesConnectionsThatSayNothingInTime) {
  start({.patience = 20ms});
  tcp::socket silent = connect();
  tcp::socket slow = connect();
  boost::asio::write(slow, boost::asio::buffer("GET /met", 8));
  EXPECT_THAT(rest(silent), IsEmpty());
  EXPECT_THAT(rest(slow), IsEmpty());
}

TEST_F(Http, WhoAsksForHeadersGetsThoseOfTheWholePage) {
  start();
  const std::string headers = answer_to("HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(headers, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(headers, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(headers, EndsWith("\r\n\r\n"));
}

TEST_F(Http, WhoHasBeenSilentForLongestGivesPlaceToANewClient) {
  start({.connections = 2});
  tcp::socket first = connect();
  boost::asio::write(first, boost::asio::buffer("GET /met", 8));
  tcp::socket second = connect();
  EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  EXPECT_THAT(rest(first), IsEmpty());
  boost::asio::write(second, boost::asio::buffer("GET /health HTTP/1.0\r\n\r\n", 24));
  EXPECT_THAT(rest(second), EndsWith("ok\n"));
}

TEST_F(Http, ManyHalfRequestsKeepNobodyOut) {
  start({.connections = 4});
  std::vector<tcp::socket> half;
  for (int i = 0; i < 50; ++i) {
    half.push_back(connect());
    boost::asio::write(half.back(), boost::asio::buffer("GET /met", 8));
    EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  }
}

TEST_F(Http, SaysWhichAddressCannotBeHad) {
  start();
  EXPECT_THAT([this] { HttpServer(context_, local_, [](Format) { return std::string(); }); },
              testing::ThrowsMessage<std::runtime_error>(
                  HasSubstr("metrics.listen 127.0.0.1:" + std::to_string(local_.port()))));
}

}  // namespace
}  // namespace sluice::metrics

// Tests of the HTTP server for metrics and the live page: parsing, limits of clients and event streams. Slow or
// hostile clients must not block others.
#include "proxy/ops/http/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::http {
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
      events_.reset();
      context_.stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  void start(HttpLimits limits = {}, EventLimits event_limits = {}) {
    const HttpServer::Endpoint anywhere(boost::asio::ip::make_address("127.0.0.1"), 0);
    events_ = std::make_unique<EventStream>(context_, event_limits);
    server_ = std::make_unique<HttpServer>(
        context_, anywhere, "metrics.listen",
        [this](const Request& request) -> HttpServer::Reply {
          last_ = request;
          if (request.path == "/events" && !events_->can_accept(request.client)) return plain(503, "too many\n");
          if (request.path == "/events") return events_.get();
          if (request.path == "/long") return plain(200, std::string(long_answer, 'x'));
          return plain(request.path == "/health" ? 200 : 404, request.path == "/health" ? "ok\n" : "nothing\n");
        },
        limits);
    local_ = server_->local();
    thread_ = std::thread([this] { context_.run(); });
  }

  /// Returns the result of work() on the server's thread.
  template <typename Work>
  auto on_server(Work work) {
    std::packaged_task<decltype(work())()> task(work);
    auto answer = task.get_future();
    boost::asio::post(context_, [&task] { task(); });
    return answer.get();
  }

  static constexpr std::size_t long_answer = 20'000'000;  ///< more than kernels keep for a client

  /// A client at `from`, an address of this machine.
  tcp::socket connect(const std::string& from = "127.0.0.1") {
    tcp::socket client(clients_, tcp::endpoint(boost::asio::ip::make_address(from), 0));
    client.connect(local_);
    return client;
  }

  /// Returns everything that the server sends until it closes.
  static std::string rest(tcp::socket& client) {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(client, boost::asio::dynamic_buffer(all), error);
    return all;
  }

  std::string answer_to(const std::string& request) { return answer_from("127.0.0.1", request); }
  std::string answer_from(const std::string& address, const std::string& request) {
    tcp::socket client = connect(address);
    boost::system::error_code error;
    boost::asio::write(client, boost::asio::buffer(request), error);
    return rest(client);
  }

  boost::system::error_code ignored_;
  boost::asio::io_context context_;
  boost::asio::io_context clients_;
  std::unique_ptr<EventStream> events_;
  std::unique_ptr<HttpServer> server_;
  Request last_;
  tcp::endpoint local_;
  std::thread thread_;
};

TEST_F(Http, PassesTheRequestToTheHandler) {
  start();
  answer_to(
      "POST /mode?x HTTP/1.1\r\nHost: h:1\r\nOrigin: o\r\nSec-Fetch-Site: s\r\nAuthorization: a\r\nAccept: t\r\n"
      "Content-Length: 4\r\nConnection: close\r\n\r\nsmvs");
  EXPECT_EQ(last_.method, "POST");
  EXPECT_EQ(last_.path, "/mode");
  EXPECT_EQ(last_.host, "h:1");
  EXPECT_EQ(last_.origin, "o");
  EXPECT_EQ(last_.fetch_site, "s");
  EXPECT_EQ(last_.authorization, "a");
  EXPECT_EQ(last_.accept, "t");
  EXPECT_EQ(last_.body, "smvs");
  EXPECT_TRUE(last_.from_loopback);
}

TEST_F(Http, ServesSeveralRequestsOfOneConnection) {
  start();
  EXPECT_THAT(answer_to("GET /health HTTP/1.1\r\nHost: h\r\n\r\nGET /other HTTP/1.0\r\n\r\n"),
              testing::AllOf(HasSubstr("\r\n\r\nok\n"), EndsWith("\r\n\r\nnothing\n")));
}

TEST_F(Http, RefusesRequestsThatAreTooLargeOrMalformed) {
  start();
  EXPECT_THAT(answer_to("POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\nhello"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer_to("what is this\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("GET /" + std::string(5000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(Http, AcceptsAnAbsoluteTargetWhoseAuthorityReplacesHost) {
  start();
  EXPECT_THAT(answer_to("GET HTTP://a:9838/health?x HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n"),
              EndsWith("ok\n"));
  EXPECT_EQ(last_.path, "/health");
  EXPECT_EQ(last_.host, "a:9838");
  answer_to("GET http://[::1] HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(last_.path, "/");
  EXPECT_EQ(last_.host, "[::1]");
}

TEST_F(Http, IgnoresAFewEmptyLinesBeforeARequest) {
  start();
  EXPECT_THAT(answer_to("\r\nGET /health HTTP/1.1\r\nHost: h\r\n\r\n\r\n\r\nGET /health HTTP/1.0\r\n\r\n"),
              testing::AllOf(HasSubstr("\r\n\r\nok\nHTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
  tcp::socket client = connect();
  for (const char octet : std::string("\r\n\r\nGET /health HTTP/1.0\r\n\r\n"))
    boost::asio::write(client, boost::asio::buffer(&octet, 1));
  EXPECT_THAT(rest(client), EndsWith("ok\n"));
  EXPECT_THAT(answer_to("\r\n\r\n\r\n\r\n\r\nGET /health HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("\n\nGET /health HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(Http, RefusesARequestWithAMissingDoubleOrInvalidHost) {
  start();
  for (const std::string& fields :
       {std::string(), std::string("Host: h\r\nHost: h\r\n"), std::string("Host: h\r\nHOST: evil\r\n"),
        std::string("Host: [::1]evil.example\r\n"), std::string("Host: user@h\r\n"), std::string("Host: h:9:9\r\n"),
        std::string("Host: h, evil\r\n"), std::string("Host : h\r\n"), std::string("Host: h evil\r\n")}) {
    EXPECT_THAT(answer_to("GET /health HTTP/1.1\r\n" + fields + "\r\n"), StartsWith("HTTP/1.1 400 ")) << fields;
  }
  for (const char* const target : {"http://", "http:///health", "http://user@h/health", "https://h/health", "health",
                                   "/health#x", "http://[::1]evil/health", "h:80"}) {
    EXPECT_THAT(answer_to(std::string("GET ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 400 "))
        << target;
  }
}

TEST_F(Http, RefusesAnAmbiguousRequest) {
  start();
  for (const std::string& fields :
       {std::string("Content-Length: 1\r\nContent-Length: 1\r\n"),
        std::string("Content-Length: 1\r\nContent-Length: 2\r\n"), std::string("Content-Length: 1, 2\r\n"),
        std::string("Content-Length: +1\r\n"), std::string("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
        std::string("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), std::string("Accept : t\r\n"),
        std::string("Accept: a\rb\r\n"), std::string("Accept: a\0b\r\n", 14), std::string(" Accept: t\r\n")}) {
    EXPECT_THAT(answer_to("POST /health HTTP/1.1\r\nHost: h\r\n" + fields + "\r\nx"), StartsWith("HTTP/1.1 400 "))
        << fields;
  }
  for (const char* const coding : {"gzip", "chunked, gzip", "identity"}) {
    EXPECT_THAT(answer_to(std::string("POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ") + coding +
                          "\r\n\r\n0\r\n\r\n"),
                testing::AnyOf(StartsWith("HTTP/1.1 501 "), StartsWith("HTTP/1.1 400 ")))
        << coding;
  }
  EXPECT_THAT(answer_to("POST /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(Http, AcceptsAFoldedFieldAndAChunkedBody) {
  start();
  answer_to(
      "POST /mode HTTP/1.1\r\nHost: h\r\nAccept: a\r\n b\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n"
      "4\r\nsmvs\r\n0\r\n\r\n");
  EXPECT_EQ(last_.body, "smvs");
  EXPECT_EQ(last_.accept, "a b") << "a fold is a space (RFC 9112 section 5.2)";
}

TEST_F(Http, ClosesConnectionsThatSendNoRequestInTime) {
  start({.timeout = 20ms});
  tcp::socket silent = connect();
  tcp::socket slow = connect();
  boost::asio::write(slow, boost::asio::buffer("GET /met", 8));
  EXPECT_THAT(rest(silent), IsEmpty());
  EXPECT_THAT(rest(slow), IsEmpty());
}

TEST_F(Http, HeadReturnsTheHeadersOfTheWholePage) {
  start();
  const std::string headers = answer_to("HEAD /health HTTP/1.0\r\n\r\n");
  EXPECT_THAT(headers, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(headers, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(headers, EndsWith("\r\n\r\n"));
}

TEST_F(Http, ANewClientReplacesTheOneSilentForLongest) {
  start({.connections = 2});
  tcp::socket first = connect();
  boost::asio::write(first, boost::asio::buffer("GET /met", 8));
  tcp::socket second = connect();
  EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  EXPECT_THAT(rest(first), IsEmpty());
  boost::asio::write(second, boost::asio::buffer("GET /health HTTP/1.0\r\n\r\n", 24));
  EXPECT_THAT(rest(second), EndsWith("ok\n"));
}

TEST_F(Http, PartialRequestsDoNotBlockOtherClients) {
  start({.connections = 4});
  std::vector<tcp::socket> half;
  for (int i = 0; i < 50; ++i) {
    half.push_back(connect());
    boost::asio::write(half.back(), boost::asio::buffer("GET /met", 8));
    EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  }
}

TEST_F(Http, ManyClientsOfOneAddressDoNotBlockAnotherAddress) {
  start({.connections = 4});
  tcp::socket other = connect("127.0.0.2");
  boost::asio::write(other, boost::asio::buffer("GET /hea", 8));
  std::vector<tcp::socket> many;
  for (int i = 0; i < 50; ++i) {
    many.push_back(connect());
    boost::asio::write(many.back(), boost::asio::buffer("G", 1));
    EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  }
  boost::asio::write(other, boost::asio::buffer("lth HTTP/1.0\r\n\r\n", 16));
  EXPECT_THAT(rest(other), EndsWith("ok\n"));
}

/// Silent ones are there for longer than it has taken its last part.
TEST_F(Http, SilentClientsAreReplacedBeforeOneThatReadsALongAnswer) {
  start({.connections = 4});
  tcp::socket slow = connect();
  boost::asio::write(slow, boost::asio::buffer("GET /long HTTP/1.0\r\n\r\n", 22));
  std::vector<tcp::socket> silent;
  std::string taken;
  while (taken.size() < long_answer) {
    std::string part(long_answer / 10, ' ');
    part.resize(boost::asio::read(slow, boost::asio::buffer(part), ignored_));
    ASSERT_FALSE(part.empty());
    taken += part;
    silent.push_back(connect());
    EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  }
  EXPECT_THAT(taken + rest(slow), EndsWith(std::string(long_answer, 'x')));
}

/// Each kind has more clients than places: silent ones, ones that never read an answer, and ones that read or send a
/// byte at intervals.
TEST_F(Http, SlowAndSilentClientsDoNotBlockOthers) {
  start({.connections = 4});
  const std::string request = "GET /health HTTP/1.0\r\n\r\n";
  std::vector<tcp::socket> silent;
  std::vector<tcp::socket> deaf;
  std::vector<tcp::socket> slow_readers;
  std::vector<tcp::socket> slow_writers;
  for (std::size_t round = 0; round < request.size() - 1; ++round) {
    silent.push_back(connect());
    for (auto* const group : {&deaf, &slow_readers}) {
      group->push_back(connect());
      boost::asio::write(group->back(), boost::asio::buffer("GET /long HTTP/1.0\r\n\r\n", 22), ignored_);
    }
    slow_writers.push_back(connect());
    std::array<char, 1> octet{};
    for (tcp::socket& client : slow_readers)
      if (client.available(ignored_) > 0) boost::asio::read(client, boost::asio::buffer(octet), ignored_);
    for (std::size_t i = 0; i < slow_writers.size(); ++i)
      boost::asio::write(slow_writers[i], boost::asio::buffer(&request[round - i], 1), ignored_);
    EXPECT_THAT(answer_to(request), EndsWith("ok\n"));
  }
}

TEST_F(Http, NamesTheAddressThatCannotBeBound) {
  start();
  EXPECT_THAT([this] { HttpServer(context_, local_, "metrics.listen", [](const Request&) { return plain(200, ""); }); },
              testing::ThrowsMessage<std::runtime_error>(
                  HasSubstr("metrics.listen 127.0.0.1:" + std::to_string(local_.port()))));
}

/// A client that watches, once it has had the head of the answer.
class EventStreamClients : public Http {
 protected:
  tcp::socket watch(const std::string& from = "127.0.0.1") {
    tcp::socket client = connect(from);
    boost::asio::write(client, boost::asio::buffer("GET /events HTTP/1.0\r\n\r\n", 24));
    std::string head;
    boost::asio::read_until(client, boost::asio::dynamic_buffer(head), "\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
    return client;
  }
  static std::string event(tcp::socket& client) {
    std::string text;
    boost::asio::read_until(client, boost::asio::dynamic_buffer(text), "\n\n");
    return text;
  }
  void send(const std::string& data) {
    on_server([&] { return events_->send(data), 0; });
  }
  tcp::socket watch_by_a_small_buffer() {
    tcp::socket client(clients_, tcp::v4());
    client.set_option(boost::asio::socket_base::receive_buffer_size(4096));
    client.connect(local_);
    boost::asio::write(client, boost::asio::buffer("GET /events HTTP/1.0\r\n\r\n", 24));
    std::string head;
    boost::asio::read_until(client, boost::asio::dynamic_buffer(head), "\r\n\r\n");
    return client;
  }
  /// Sends small events, which `reader` reads.
  void send_until_a_place_is_free(tcp::socket& reader) {
    while (!on_server([this] { return events_->can_accept(client_address); })) {
      send("small");
      EXPECT_EQ(event(reader), "data: small\n\n");
    }
  }
  const boost::asio::ip::address client_address = boost::asio::ip::make_address("127.0.0.1");

  void wait_until_empty() {
    while (!on_server([this] { return events_->empty(); })) std::this_thread::sleep_for(1ms);
  }
};

TEST_F(EventStreamClients, EveryClientGetsEveryEvent) {
  start();
  tcp::socket first = watch();
  tcp::socket second = watch();
  send("one");
  EXPECT_EQ(event(first), "data: one\n\n");
  EXPECT_EQ(event(second), "data: one\n\n");
}

TEST_F(EventStreamClients, IsNotEvictedByOtherConnections) {
  start({.connections = 1});
  tcp::socket client = watch();
  for (int i = 0; i < 4; ++i) EXPECT_THAT(answer_to("GET /health HTTP/1.0\r\n\r\n"), EndsWith("ok\n"));
  send("still here");
  EXPECT_EQ(event(client), "data: still here\n\n");
}

TEST_F(EventStreamClients, TheNumberOfClientsIsBounded) {
  start({}, {.clients = 1});
  tcp::socket client = watch();
  EXPECT_THAT(answer_to("GET /events HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(on_server([this] { return !events_->can_accept(client_address); }));
}

/// Events are small, so unread ones would fit into the socket buffers for a long time.
TEST_F(EventStreamClients, ANewClientReplacesOneThatDoesNotRead) {
  start({}, {.clients = 2});
  tcp::socket deaf = watch();
  tcp::socket reader = watch();
  EXPECT_THAT(answer_to("GET /events HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  send_until_a_place_is_free(reader);
  tcp::socket further = watch();
  send("for both");
  EXPECT_EQ(event(reader), "data: for both\n\n");
  EXPECT_EQ(event(further), "data: for both\n\n");
  EXPECT_THAT(rest(deaf), EndsWith("data: small\n\n"));
}

TEST_F(EventStreamClients, AStalledClientIsReplacedBeforeASlowOne) {
  start({}, {.clients = 2, .send_buffer = 4096});
  tcp::socket slow = watch_by_a_small_buffer();
  tcp::socket deaf = watch_by_a_small_buffer();
  std::string part(20'000, ' ');
  while (!on_server([this] { return events_->can_accept(client_address); })) {
    send(std::string(100'000, 'x'));
    boost::asio::read(slow, boost::asio::buffer(part));
  }
  tcp::socket further = watch();
  EXPECT_EQ(boost::asio::read(slow, boost::asio::buffer(part), ignored_), part.size());
  static_cast<void>(rest(deaf));
}

TEST_F(EventStreamClients, AnAddressWithMostClientsLosesOneToAnother) {
  start({}, {.clients = 4});
  std::vector<tcp::socket> many;
  for (int i = 0; i < 4; ++i) many.push_back(watch());
  tcp::socket other = watch("127.0.0.2");
  send("for the other");
  EXPECT_EQ(event(other), "data: for the other\n\n");
  EXPECT_THAT(answer_to("GET /events HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 503 ")) << "one of its own address";
  tcp::socket second = watch("127.0.0.2");
  EXPECT_THAT(answer_from("127.0.0.3", "GET /events HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 503 "))
      << "no address has more than half";
}

TEST_F(EventStreamClients, AStalledClientIsDropped) {
  start({}, {.timeout = 20ms, .send_buffer = 4096});
  tcp::socket client = connect();
  client.set_option(boost::asio::socket_base::receive_buffer_size(4096));
  boost::asio::write(client, boost::asio::buffer("GET /events HTTP/1.0\r\n\r\n", 24));
  while (on_server([this] { return events_->empty(); })) std::this_thread::sleep_for(1ms);
  while (!on_server([this] { return events_->send(std::string(1'000'000, 'x')), events_->empty(); })) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST_F(EventStreamClients, ADisconnectedClientIsRemoved) {
  start();
  {
    tcp::socket client = watch();
    EXPECT_FALSE(on_server([this] { return events_->empty(); }));
  }
  wait_until_empty();
}

}  // namespace
}  // namespace sluice::http

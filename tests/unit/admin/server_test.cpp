// Tests of the admin server and its client over a Unix socket: answers, streams, limits of clients, and permissions. A
// client must not be able to stop the proxy.
#include "proxy/ops/admin/server.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "proxy/ops/admin/client.hpp"

namespace sluice::admin {
namespace {

using boost::asio::local::stream_protocol;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// What a test makes of a stream, and learns of it.
struct StreamScript {
  std::atomic<bool> endless{false};
  std::atomic<bool> finished{false};
  std::atomic<bool> gone{false};
  std::atomic<std::size_t> taken{0};
};

/// Sends "part\n" on request and "end\n" when it is to finish.
class ScriptedStream final : public ByteStream {
 public:
  explicit ScriptedStream(StreamScript& script) : script_(script) {}
  ~ScriptedStream() override { script_.gone = true; }

  bool take(std::string& out, std::size_t most) override {
    out += script_.endless ? std::string(most, 'x') : script_.finished ? "end\n" : "part\n";
    script_.taken += out.size();
    return script_.endless || !script_.finished;
  }
  void finish() override { script_.finished = true; }

 private:
  StreamScript& script_;
};

/// A server with its thread, in a folder of its own.
class AdminServer : public testing::Test {
 protected:
  AdminServer() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-admin-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    socket_ = (folder_ / "s").string();
  }
  ~AdminServer() override {
    stop();
    std::filesystem::remove_all(folder_);
  }

  CommandTable commands() {
    return CommandTable({
        {"echo", "[WORD…]", "says it again", 8,
         [](const std::vector<std::string>& words, const Reply& reply) { reply(Answer::success(words)); }},
        {"later", "", "answers after a while", 0,
         [this](const std::vector<std::string>&, const Reply& reply) {
           auto timer = std::make_shared<boost::asio::steady_timer>(context_, 20ms);
           timer->async_wait([timer, reply](const boost::system::error_code&) { reply(Answer::success("now")); });
         }},
        {"long", "", "a long answer", 0,
         [](const std::vector<std::string>&, const Reply& reply) {
           reply(Answer::success(std::string(std::size_t{4} << 20, 'x')));
         }},
        {"stream", "", "goes on", 0,
         [this](const std::vector<std::string>&, const Reply& reply) {
           Answer answer = Answer::success("begins");
           answer.stream = std::make_shared<ScriptedStream>(script_);
           reply(answer);
         }},
        {"never", "", "does not answer", 0, [](const std::vector<std::string>&, const Reply&) {}},
    });
  }

  void start(ServerLimits limits = {}) {
    server_ = std::make_unique<Server>(context_, SocketPlace{socket_}, commands(), limits);
    thread_ = std::thread([this] { context_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    boost::asio::post(context_, [this] {
      server_.reset();
      context_.stop();
    });
    thread_.join();
  }

  /// Returns what a raw client receives until the server closes or `lines` lines have come.
  std::string raw(const std::string& request, std::size_t lines) {
    boost::asio::io_context context;
    stream_protocol::socket client(context);
    client.connect(stream_protocol::endpoint(socket_));
    boost::system::error_code error;
    boost::asio::write(client, boost::asio::buffer(request), error);
    error = {};  // a server that refuses the request closes before it has read all of it
    std::string text;
    std::string all;
    for (std::size_t i = 0; i < lines && !error; ++i) {
      const std::size_t length = boost::asio::read_until(client, boost::asio::dynamic_buffer(text), '\n', error);
      all += text.substr(0, length);
      text.erase(0, length);
    }
    return all;
  }

  /// Waits until the flag is set; the test runner ends a test that waits for ever.
  static void wait_for(const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::sleep_for(1ms);
  }

  StreamScript script_;
  std::filesystem::path folder_;
  std::string socket_;
  boost::asio::io_context context_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(AdminServer, AnswersCommands) {
  start();
  const Answer answer = ask(socket_, "echo a b", 5s);
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.value, (Json{"a", "b"}));
  EXPECT_FALSE(ask(socket_, "nonsense", 5s).ok);
}

TEST_F(AdminServer, SlowAnswersAndLongAnswersArrive) {
  start();
  EXPECT_EQ(ask(socket_, "later", 5s).value, "now");
  EXPECT_EQ(ask(socket_, "long", 5s).value.get<std::string>().size(), std::size_t{4} << 20);
}

TEST_F(AdminServer, SeveralLinesAreAnsweredInOrder) {
  start();
  EXPECT_EQ(raw("echo 1\nlater\necho 2\n", 3),
            "{\"ok\":true,\"result\":[\"1\"]}\n{\"ok\":true,\"result\":\"now\"}\n{\"ok\":true,\"result\":[\"2\"]}\n");
}

TEST_F(AdminServer, GarbageIsAnsweredWithAFailure) {
  start();
  const std::string garbage("\x00\xff\x1b[0m{}\n", 9);
  EXPECT_THAT(raw(garbage, 1), HasSubstr("\"ok\":false"));
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
}

TEST_F(AdminServer, ALineWithoutEndIsRefused) {
  start();
  EXPECT_THAT(raw(std::string(100'000, 'x'), 1), HasSubstr("too long"));
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
}

TEST_F(AdminServer, SilentClientsAreClosedAndBounded) {
  start({.connections = 2, .line_bytes = 100, .idle = 150ms});
  boost::asio::io_context context;
  stream_protocol::socket first(context);
  stream_protocol::socket second(context);
  first.connect(stream_protocol::endpoint(socket_));
  second.connect(stream_protocol::endpoint(socket_));
  std::string rest;
  boost::system::error_code error;
  boost::asio::read_until(first, boost::asio::dynamic_buffer(rest), '\n', error);
  EXPECT_EQ(error, boost::asio::error::eof) << "closed for its silence";
  boost::asio::read_until(second, boost::asio::dynamic_buffer(rest), '\n', error);
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
}

TEST_F(AdminServer, ClientsThatWaitForAnAnswerAreNotDisplaced) {
  start({.connections = 2, .line_bytes = 100});
  boost::asio::io_context context;
  stream_protocol::socket first(context);
  stream_protocol::socket second(context);
  for (stream_protocol::socket* const client : {&first, &second}) {
    client->connect(stream_protocol::endpoint(socket_));
    boost::asio::write(*client, boost::asio::buffer(std::string("stream\n")));
    std::string text;
    boost::asio::read_until(*client, boost::asio::dynamic_buffer(text), '\n');
  }
  EXPECT_THAT(raw("", 1), HasSubstr("too many connections"));
}

TEST_F(AdminServer, SilentClientsGiveTheirPlaceToOthers) {
  start();
  boost::asio::io_context context;
  std::vector<stream_protocol::socket> silent;
  for (int i = 0; i < 200; ++i) {
    silent.emplace_back(context);
    silent.back().connect(stream_protocol::endpoint(socket_));
    if (i % 2 == 1) boost::asio::write(silent.back(), boost::asio::buffer(std::string("ec")));  // no whole request
  }
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
  std::string rest;
  boost::system::error_code error;
  boost::asio::read_until(silent.front(), boost::asio::dynamic_buffer(rest), '\n', error);
  EXPECT_EQ(error, boost::asio::error::eof) << "the oldest is closed first";
  stop();
}

TEST_F(AdminServer, AClientThatAskedIsDisplacedOnlyIfItIsSilentForLong) {
  start({.connections = 1, .patience = 100ms});
  boost::asio::io_context context;
  stream_protocol::socket first(context);
  first.connect(stream_protocol::endpoint(socket_));
  boost::asio::write(first, boost::asio::buffer(std::string("echo\n")));
  std::string text;
  boost::asio::read_until(first, boost::asio::dynamic_buffer(text), '\n');
  const auto is_answered = [&] {
    try {
      return ask(socket_, "echo", 5s).ok;
    } catch (const std::runtime_error&) {  // closed without an answer, because one client is already being refused
      return false;
    }
  };
  while (!is_answered()) {
  }
  text.clear();
  boost::system::error_code error;
  boost::asio::read_until(first, boost::asio::dynamic_buffer(text), '\n', error);
  EXPECT_EQ(error, boost::asio::error::eof);
}

TEST_F(AdminServer, SurvivesClientsThatDisconnectDuringTheirCommand) {
  start();
  for (int i = 0; i < 20; ++i) {
    boost::asio::io_context context;
    stream_protocol::socket client(context);
    client.connect(stream_protocol::endpoint(socket_));
    boost::asio::write(client, boost::asio::buffer(std::string(i % 2 == 0 ? "later\n" : "long\n")));
  }
  EXPECT_TRUE(ask(socket_, "echo", 60s).ok);
}

TEST_F(AdminServer, AStreamFollowsItsAnswerUntilTheClientEndsIt) {
  start();
  boost::asio::io_context context;
  stream_protocol::socket client(context);
  client.connect(stream_protocol::endpoint(socket_));
  boost::asio::write(client, boost::asio::buffer(std::string("stream\n")));
  std::string text;
  std::size_t length = boost::asio::read_until(client, boost::asio::dynamic_buffer(text), '\n');
  EXPECT_EQ(text.substr(0, length), "{\"ok\":true,\"result\":\"begins\"}\n");
  text.erase(0, length);
  length = boost::asio::read_until(client, boost::asio::dynamic_buffer(text), '\n');
  EXPECT_EQ(text.substr(0, length), "part\n");
  client.shutdown(stream_protocol::socket::shutdown_send);
  boost::system::error_code error;
  boost::asio::read(client, boost::asio::dynamic_buffer(text), error);
  EXPECT_EQ(error, boost::asio::error::eof);
  EXPECT_THAT(text, testing::EndsWith("part\nend\n"));
  wait_for(script_.gone);
}

TEST_F(AdminServer, AStreamEndsWhenItsClientDisconnects) {
  script_.endless = true;
  start();
  {
    boost::asio::io_context context;
    stream_protocol::socket client(context);
    client.connect(stream_protocol::endpoint(socket_));
    boost::asio::write(client, boost::asio::buffer(std::string("stream\n")));
    std::string text;
    boost::asio::read_until(client, boost::asio::dynamic_buffer(text), '\n');
  }
  wait_for(script_.gone);
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
}

TEST_F(AdminServer, AStreamWithoutAReaderIsThrottledAndTimesOut) {
  script_.endless = true;
  start({.connections = 2, .line_bytes = 100, .idle = 300ms});
  boost::asio::io_context context;
  stream_protocol::socket client(context);
  client.connect(stream_protocol::endpoint(socket_));
  boost::asio::write(client, boost::asio::buffer(std::string("stream\n")));
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok) << "others are answered meanwhile";
  wait_for(script_.gone);
  EXPECT_LT(script_.taken, std::size_t{8} << 20) << "what the socket holds, and what waits for it";
}

TEST_F(AdminServer, StopsWhileAStreamRuns) {
  start();
  boost::asio::io_context context;
  stream_protocol::socket client(context);
  client.connect(stream_protocol::endpoint(socket_));
  boost::asio::write(client, boost::asio::buffer(std::string("stream\n")));
  std::string text;
  boost::asio::read_until(client, boost::asio::dynamic_buffer(text), '\n');
  stop();
  EXPECT_TRUE(script_.gone);
}

TEST_F(AdminServer, StopsWithClientsConnected) {
  start();
  boost::asio::io_context context;
  stream_protocol::socket client(context);
  client.connect(stream_protocol::endpoint(socket_));
  boost::asio::write(client, boost::asio::buffer(std::string("never\n")));
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
  stop();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(AdminServer, TheSocketIsAccessibleToItsOwnerOnly) {
  start();
  struct stat status {};
  ASSERT_EQ(stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(AdminServer, AGroupMayBeGivenAccess) {
  const std::string group = std::to_string(getgid());
  const Server server(context_, {socket_, group}, commands());
  struct stat status {};
  ASSERT_EQ(stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
  EXPECT_EQ(status.st_gid, getgid());
}

TEST_F(AdminServer, AnUnknownGroupIsRefusedAndLeavesNoSocket) {
  try {
    const Server server(context_, {socket_, "no-such-group"}, commands());
    FAIL();
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("there is no group 'no-such-group'"));
  }
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(AdminServer, ItsFolderIsCreatedWritableByItsOwnerOnly) {
  socket_ = (folder_ / "run" / "s").string();
  start();
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "run").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0022U, 0U);
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
}

TEST_F(AdminServer, AWorldWritableFolderIsRefused) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  try {
    const Server server(context_, {socket_}, commands());
    FAIL();
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("everybody may write to its folder"));
  }
}

TEST_F(AdminServer, ASymbolicLinkIsNotFollowed) {
  const std::filesystem::path target = folder_ / "target";
  std::filesystem::create_symlink(target, socket_);
  EXPECT_THROW(Server(context_, {socket_}, commands()), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(AdminServer, AStaleSocketIsReplacedAndALiveOneIsNot) {
  {
    stream_protocol::acceptor leftover(context_);
    leftover.open(stream_protocol());
    leftover.bind(stream_protocol::endpoint(socket_));
  }
  ASSERT_TRUE(std::filesystem::exists(socket_));
  start();
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok);
  boost::asio::io_context other;
  try {
    const Server second(other, SocketPlace{socket_}, commands());
    FAIL() << "a live socket was taken over";
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("another program answers on " + socket_));
  }
  EXPECT_TRUE(ask(socket_, "echo", 5s).ok) << "and the first still works";
}

TEST_F(AdminServer, OtherFilesAreNotRemoved) {
  std::ofstream(socket_) << "precious";
  EXPECT_THROW(Server(context_, SocketPlace{socket_}, commands()), std::runtime_error);
  EXPECT_EQ(std::filesystem::file_size(socket_), 8U);
}

TEST_F(AdminServer, UnusablePathsAreRefusedWithAReason) {
  EXPECT_THROW(Server(context_, {"/nonexistent/folder/s"}, commands()), std::runtime_error);
  EXPECT_THROW(Server(context_, {std::string(200, 'x')}, commands()), std::runtime_error);
  EXPECT_THROW(Server(context_, {""}, commands()), std::runtime_error);
}

TEST_F(AdminServer, ASocketThatAnotherProgramReplacedIsNotRemoved) {
  start();
  std::filesystem::remove(socket_);
  std::ofstream(socket_) << "somebody else's";
  stop();
  EXPECT_TRUE(std::filesystem::exists(socket_));
}

/// The process has as many files open as it may have, for as long as this lives.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int highest = open("/dev/null", O_RDONLY);
    taken_.push_back(highest);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(highest) + 1;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int next = 0; (next = dup(highest)) >= 0;) taken_.push_back(next);
  }
  ~NoDescriptorLeft() {
    for (const int descriptor : taken_) close(descriptor);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

/// A server without a thread: the test runs what there is to do.
class AdminServerByHand : public AdminServer {
 protected:
  AdminServerByHand() {
    server_ = std::make_unique<Server>(context_, SocketPlace{socket_}, commands(), ServerLimits{},
                                       [this](const std::string& warning) { warnings_.push_back(warning); });
    client_.open();
  }
  /// Does what can be done now; false when that does not come to an end.
  bool settle() {
    constexpr int plenty = 1000;
    for (int i = 0; i < plenty; ++i) {
      if (context_.poll_one() == 0) return true;
    }
    return false;
  }

  std::vector<std::string> warnings_;
  boost::asio::io_context at_client_;
  stream_protocol::socket client_{at_client_};
};

TEST_F(AdminServerByHand, WithoutAFreeDescriptorItWaitsAndWarnsOnce) {
  EXPECT_TRUE(settle()) << "a sanitizer that looks at types for the first time needs a descriptor, too";
  {
    const NoDescriptorLeft none;
    client_.connect(stream_protocol::endpoint(socket_));
    EXPECT_TRUE(settle()) << "it goes on trying";
    while (warnings_.empty()) context_.run_one();
    for (int i = 0; i < 3; ++i) context_.run_one();  // tries again
    EXPECT_TRUE(settle());
  }
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0], HasSubstr(socket_ + " cannot accept a client: Too many open files"));
  while (server_->connections() == 0) context_.run_one();
  client_.close();
  while (server_->connections() == 1) context_.run_one();
  stream_protocol::socket next(at_client_);
  next.open();
  {
    const NoDescriptorLeft none;
    next.connect(stream_protocol::endpoint(socket_));
    while (warnings_.size() == 1) context_.run_one();
  }
  EXPECT_THAT(warnings_[1], HasSubstr("Too many open files")) << "of the next time";
}

TEST(AdminClient, NamesTheSocketThatDoesNotAnswer) {
  try {
    (void)ask("/nonexistent/s", "status", 100ms);
    FAIL();
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("no program answers on /nonexistent/s"));
  }
}

TEST(AdminClient, TellsAUserWithoutPermissionWhatToDo) {
  EXPECT_EQ(
      unreachable("/run/s", EACCES),
      "/run/s does not accept this user (Permission denied): use sudo, or name a group of this user in admin.group");
  EXPECT_THAT(unreachable("/run/s", ECONNREFUSED), HasSubstr("no program answers on /run/s (Connection refused)"));
}

TEST_F(AdminServer, TheClientTimesOut) {
  start();
  EXPECT_THROW((void)ask(socket_, "never", 50ms), std::runtime_error);
}

}  // namespace
}  // namespace sluice::admin

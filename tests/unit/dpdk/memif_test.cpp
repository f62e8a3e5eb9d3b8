// memif ports whose peer is not there yet, leaves, dies, and comes back.
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/port.hpp"
#include "tests/unit/dpdk/frames.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace sluice::dpdk {
namespace {

using namespace test;

class Memif : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = testing::TempDir() + "sluice-memif-" + std::to_string(getpid()) + "-" + std::to_string(count_++);
  }
  void TearDown() override { std::filesystem::remove(socket_); }

  [[nodiscard]] std::string arguments(int number, const std::string& role) const {
    return "net_memif" + std::to_string(number) + ",role=" + role + ",id=0,socket=" + socket_;
  }
  [[nodiscard]] std::unique_ptr<Port> open(int number, const std::string& role) const {
    PortConfig config;
    config.device = arguments(number, role);
    return std::make_unique<Port>(config, sluice::test::pool());
  }
  static pid_t spawn(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, pointers[0], nullptr, nullptr, pointers.data(), environ), 0);
    return pid;
  }
  /// Starts another process at the other end.
  [[nodiscard]] pid_t spawn_peer(const std::string& role) const {
    return spawn({SLUICE_MEMIF_PEER, arguments(0, role)});
  }
  static void kill_peer(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  std::string socket_;
  static inline int count_ = 0;
};

/// Polls both ports (and so lets them look for each other) until `done` or twenty seconds have passed.
bool poll_until(const std::function<bool()>& done) {
  const Instant end = detail::kernel_now() + std::chrono::seconds(20);
  while (!done()) {
    if (detail::kernel_now() > end) return false;
    usleep(200);
  }
  return true;
}

/// Takes what has come in; returns how many.
std::size_t swallow(Port& port) {
  std::array<packet::Packet, 32> burst;
  return port.receive(0, burst);
}

/// Whether a datagram gets from one port to the other, tried again until it does.
bool crosses(Port& from, Port& to) {
  std::array<packet::Packet, 32> burst;
  return poll_until([&] {
    packet::Packet packet = datagram(ue(1), server(), "across");
    from.transmit(0, {&packet, 1});
    swallow(from);
    const std::size_t count = to.receive(0, burst);
    return count > 0 && text_of(burst[0]) == "across";
  });
}

TEST_F(Memif, CarriesFramesBothWays) {
  const auto server_port = open(0, "server");
  const auto client_port = open(1, "client");
  EXPECT_TRUE(crosses(*server_port, *client_port));
  EXPECT_TRUE(crosses(*client_port, *server_port));
}

TEST_F(Memif, SentPacketsAreDroppedWithoutAPeer) {
  const auto port = open(0, "server");
  EXPECT_EQ(swallow(*port), 0U);
  packet::Packet packet = datagram(ue(1), server(), "nobody there");
  port->transmit(0, {&packet, 1});
  EXPECT_EQ(port->counters().transmit_dropped, 1U);
  EXPECT_FALSE(port->link_up());
}

TEST_F(Memif, AClientWaitsForItsServer) {
  const auto client_port = open(1, "client");
  EXPECT_EQ(swallow(*client_port), 0U);
  packet::Packet packet = datagram(ue(1), server(), "too early");
  client_port->transmit(0, {&packet, 1});
  EXPECT_EQ(client_port->counters().transmit_dropped, 1U);
  // In a process of its own, as it will be: the driver cannot have a server join a client's socket in one process.
  const pid_t peer = spawn_peer("server");
  EXPECT_TRUE(poll_until([&] { return swallow(*client_port) > 0; }));
  EXPECT_TRUE(client_port->link_up());
  kill_peer(peer);
}

TEST_F(Memif, AServerAcceptsAReconnectingClient) {
  const auto server_port = open(0, "server");
  for (int round = 0; round < 2; ++round) {
    const auto client_port = open(1, "client");
    EXPECT_TRUE(crosses(*client_port, *server_port)) << round;
    EXPECT_TRUE(crosses(*server_port, *client_port)) << round;
  }
}

TEST_F(Memif, AStaleSocketOfAServerIsReplaced) {
  const pid_t dead = spawn_peer("server");
  EXPECT_TRUE(poll_until([&] { return std::filesystem::exists(socket_); }));
  kill_peer(dead);
  ASSERT_TRUE(std::filesystem::exists(socket_));
  const auto server_port = open(0, "server");
  const auto client_port = open(1, "client");
  EXPECT_TRUE(crosses(*client_port, *server_port));
}

TEST_F(Memif, AClientThatLeavesWithoutAHandshakeIsHarmless) {
  const auto server_port = open(0, "server");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket_.size(), sizeof address.sun_path);
  socket_.copy(address.sun_path, sizeof address.sun_path - 1);
  for (int i = 0; i < 50; ++i) {
    const int visitor = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(connect(visitor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    close(visitor);
    swallow(*server_port);
  }
  const auto client_port = open(1, "client");
  EXPECT_TRUE(crosses(*client_port, *server_port)) << "and who stays is served";
}

TEST_F(Memif, AProgramThatEndsRightAfterItsPortsEndsCleanly) {
  // DPDK's interrupt thread is still busy with the ports then.
  for (int round = 0; round < 15; ++round) {
    const pid_t pid = spawn({SLUICE_MEMIF_PEER, arguments(0, "server"), arguments(1, "client")});
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status)) << "round " << round << ": signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << round;
  }
}

class MemifUnderFire : public Memif, public testing::WithParamInterface<const char*> {};

TEST_P(MemifUnderFire, APeerKilledUnderTrafficIsHarmless) {
  const std::string theirs = GetParam();
  const std::string ours = theirs == "client" ? "server" : "client";
  const auto port = open(1, ours);
  for (int round = 0; round < 5; ++round) {
    const pid_t peer = spawn_peer(theirs);
    std::size_t received = 0;
    const auto exchange = [&] {
      // Bursts both ways back to back: the peer dies while we are inside the driver.
      for (int i = 0; i < 50; ++i) {
        std::array<packet::Packet, 32> burst;
        for (packet::Packet& packet : burst) packet = datagram(ue(1), server(), std::string(1400, 'x'));
        port->transmit(0, burst);
        received += swallow(*port);
      }
    };
    EXPECT_TRUE(poll_until([&] {
      exchange();
      return received > 2000;
    })) << "round "
        << round;
    kill(peer, SIGKILL);
    EXPECT_TRUE(poll_until([&] {
      exchange();
      return !port->link_up();
    })) << "round "
        << round;
    waitpid(peer, nullptr, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Roles, MemifUnderFire, testing::Values("client", "server"));

}  // namespace
}  // namespace sluice::dpdk

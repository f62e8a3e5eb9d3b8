#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dataplane/dpdk/port.hpp"
#include "tests/support/eal.hpp"

namespace sluice::dpdk::test {

inline bool shell(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// A veth pair, ready for use, that goes away with the test.
class Interfaces : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "not root: cannot make interfaces";
    const std::string suffix = std::to_string(getpid() % 100000);
    a_ = "sla" + suffix;
    b_ = "slb" + suffix;
    if (!shell("ip link add " + a_ + " type veth peer name " + b_)) {
      GTEST_SKIP() << "cannot make a veth pair (ip link add failed)";
    }
    made_ = true;
    for (const std::string& name : {a_, b_}) {
      shell("sysctl -qw net.ipv6.conf." + name + ".disable_ipv6=1");
      shell("ethtool -K " + name + " gro off tso off gso off");
      shell("ip link set dev " + name + " up");
    }
  }
  void TearDown() override {
    if (made_) shell("ip link del " + a_);
  }
  [[nodiscard]] PortConfig on(const std::string& driver, const std::string& interface) const {
    PortConfig config;
    config.device = driver + ",iface=" + interface;
    return config;
  }
  [[nodiscard]] std::string refusal(const PortConfig& config) const {
    try {
      const Port port(config, sluice::test::pool());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no exception";
  }

  std::string a_, b_;
  bool made_ = false;
};

/// Makes the kernel send a datagram to port 2000 of an address behind the interface.
inline void send_from_kernel(const std::string& interface, std::string_view text) {
  ASSERT_TRUE(shell("ip addr add 192.0.2.1/24 dev " + interface));
  ASSERT_TRUE(shell("ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:0b dev " + interface));
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(
      setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(), static_cast<socklen_t>(interface.size())), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(2000);
  to.sin_addr.s_addr = htonl(0xc0000202U);
  ASSERT_EQ(sendto(socket, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
            static_cast<ssize_t>(text.size()));
  close(socket);
}

}  // namespace sluice::dpdk::test

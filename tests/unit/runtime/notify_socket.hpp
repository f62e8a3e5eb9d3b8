#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace sluice::proxy {

/// Service manager's end of the protocol: an abstract socket that keeps the messages it receives.
class NotifySocket {
 public:
  NotifySocket() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    static int number = 0;
    name_ = "@sluice-test-" + std::to_string(getpid()) + "-" + std::to_string(++number);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    works_ = bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  ~NotifySocket() { close(socket_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  [[nodiscard]] bool works() const { return works_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the messages that arrived since the last call.
  std::vector<std::string> messages() {
    std::vector<std::string> all;
    char buffer[4096];
    for (ssize_t size = 0; (size = recv(socket_, buffer, sizeof buffer, 0)) >= 0;) {
      all.emplace_back(buffer, static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int socket_;
  std::string name_;
  bool works_ = false;
};

}  // namespace sluice::proxy

// Implements systemd's notification protocol (sd_notify(3)) without libsystemd. Service calls it on the control
// thread. Invariant: no call blocks, and a program without a service manager works the same way. The environment
// variables are removed so that child processes do not report.
#include "proxy/daemon/service/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice::proxy {
namespace {

/// Returns the value of the environment variable `name` and removes the variable.
std::optional<std::string> take(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  std::optional<std::string> taken(value);
  unsetenv(name);
  return taken;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the watchdog period from the environment variable WATCHDOG_USEC. Returns nothing if the variable is missing
/// or malformed, or if WATCHDOG_PID names another process.
std::optional<Duration> asked_watchdog() {
  const std::optional<std::string> microseconds = take("WATCHDOG_USEC");
  const std::optional<std::string> process = take("WATCHDOG_PID");
  if (!microseconds || (process && whole(*process) != getpid())) return std::nullopt;
  const std::optional<std::int64_t> value = whole(*microseconds);
  if (!value || *value <= 0 || *value > std::numeric_limits<std::int64_t>::max() / 1000) return std::nullopt;
  return std::chrono::microseconds(*value);
}

std::string microseconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

/// Returns the text with line ends replaced by spaces, because a status must be a single line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int connect_to(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) {
    throw std::runtime_error("NOTIFY_SOCKET: not a path, nor '@' and a name: " + name);
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // The system call takes every kind of address as a sockaddr.
  if (socket < 0 || connect(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    const int problem = errno;
    if (socket >= 0) close(socket);
    throw std::runtime_error("NOTIFY_SOCKET " + name + ": " + std::generic_category().message(problem));
  }
  return socket;
}

}  // namespace

ServiceManager::ServiceManager(const std::string& socket, std::optional<Duration> watchdog)
    : socket_(connect_to(socket)), watchdog_(watchdog) {}

ServiceManager ServiceManager::from_environment() {
  const std::optional<Duration> watchdog = asked_watchdog();
  const std::optional<std::string> socket = take("NOTIFY_SOCKET");
  return socket ? ServiceManager(*socket, watchdog) : ServiceManager();
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) close(socket_);
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), watchdog_(std::exchange(other.watchdog_, std::nullopt)) {}

ServiceManager& ServiceManager::operator=(ServiceManager&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(watchdog_, other.watchdog_);
  return *this;
}

void ServiceManager::ready(const std::string& status) {
  send("READY=1\nSTATUS=" + one_line(status));
}

void ServiceManager::reloading(Instant now) {
  send("RELOADING=1\nMONOTONIC_USEC=" + microseconds(now.time_since_epoch()));
}

void ServiceManager::stopping(Duration at_most) {
  send("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + microseconds(at_most));
}

void ServiceManager::status(const std::string& line) {
  send("STATUS=" + one_line(line));
}

void ServiceManager::alive() {
  send("WATCHDOG=1");
}

void ServiceManager::send(const std::string& lines) const {
  if (socket_ < 0) return;
  // A failure is ignored, because a manager that does not receive has no need of the message.
  static_cast<void>(::send(socket_, lines.data(), lines.size(), MSG_NOSIGNAL));
}

}  // namespace sluice::proxy

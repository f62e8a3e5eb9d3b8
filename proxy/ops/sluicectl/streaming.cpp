// Connection to the admin socket for commands whose answer is followed by a stream (capture, trace). The first signal
// asks the program to end the stream, so that its totals still arrive; a second signal ends sluicectl.
#include "proxy/ops/sluicectl/streaming.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/admin/printable.hpp"

namespace sluice::sluicectl {
namespace {

std::string reason() {
  return std::generic_category().message(errno);
}

volatile std::sig_atomic_t asked_socket = -1;

/// Signal handler that requests the program to end the stream, by closing the socket's sending direction. The handler
/// closes it itself instead of setting a flag, because a signal may arrive just before a read that blocks.
void end_asking(int) {
  const int before = errno;
  shutdown(asked_socket, SHUT_WR);
  errno = before;
}

/// Makes the first SIGINT or SIGTERM end the stream. A second signal has its default effect.
void catch_signals(int socket) {
  asked_socket = socket;
  struct sigaction action {};
  action.sa_handler = end_asking;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ > STDERR_FILENO) close(number_);
}

int opened(const std::string& file) {
  if (file == "-") return STDOUT_FILENO;
  constexpr mode_t owner_only = 0600;
  const int number = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner_only);
  if (number < 0) throw std::runtime_error(file + " cannot be written: " + reason());
  return number;
}

/// Writes all bytes to the descriptor `number`, even if a signal interrupts a write. Returns false if the reader of the
/// output has closed it.
bool write_all(int number, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(number, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw std::runtime_error("what the program sent cannot be written: " + reason());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int Connection::connected_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw std::runtime_error("bad socket path '" + path + "'");
  std::memcpy(address.sun_path, path.data(), path.size());
  const int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) throw std::runtime_error("no socket: " + reason());
  if (connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return number;
  const int error = errno;
  close(number);
  throw std::runtime_error(admin::unreachable(path, error));
}

void Connection::begin(const std::string& line, std::chrono::milliseconds timeout) {
  catch_signals(socket_.get());
  if (!write_all(socket_.get(), line + "\n")) throw std::runtime_error("the program accepts no command");
  const admin::Answer answer = admin::Answer::from_line(first_line(timeout));
  if (!answer.ok) throw std::runtime_error(admin::printable(answer.value.get<std::string>(), true));
}

/// Returns the first line of the answer. Bytes received after this line are kept for the stream.
std::string Connection::first_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::size_t end = std::string::npos;
  while ((end = input_.find('\n')) == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0 || !read_more())
      throw std::runtime_error("no answer");
  }
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  return line;
}

std::string Connection::next() {
  while (input_.empty() && read_more()) {
  }
  return std::exchange(input_, {});
}

/// Receives further bytes of the stream and appends them to those that next() has not returned yet. Returns false at
/// the end of the stream.
bool Connection::read_more() {
  std::array<char, 1U << 16U> bytes;
  while (true) {
    const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    input_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }
}

}  // namespace sluice::sluicectl

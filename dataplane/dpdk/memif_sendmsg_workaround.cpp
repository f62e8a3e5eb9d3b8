#include "dataplane/dpdk/memif_sendmsg_workaround.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

std::atomic<bool> greet_the_gone = false;

/// True for a control connection of memif: a local SOCK_SEQPACKET socket, a kind that no other code in the process
/// uses.
bool is_memif_control(int descriptor) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return false;
  size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

ssize_t length_of(const msghdr& message) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) length += message.msg_iov[i].iov_len;
  return static_cast<ssize_t>(length);
}

}  // namespace

namespace sluice::dpdk {

void tolerate_early_disconnects() noexcept {
  greet_the_gone = true;
}

}  // namespace sluice::dpdk

// Replaces the C library's sendmsg() in the whole process, because a program's own definition takes precedence. A memif
// control message to a peer that has disconnected counts as sent. The driver then reads the end of the connection and
// handles it correctly. All other calls are unchanged.
extern "C" ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  const ssize_t sent = syscall(SYS_sendmsg, descriptor, message, greet_the_gone ? flags | MSG_NOSIGNAL : flags);
  if (sent >= 0 || !greet_the_gone || (errno != EPIPE && errno != ECONNRESET)) return sent;
  const int error = errno;
  if (is_memif_control(descriptor)) return length_of(*message);
  errno = error;
  return sent;
}

#include "dataplane/dpdk/link_request.hpp"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>

namespace sluice::dpdk {
namespace {

/// Function that reads an attribute, with its argument.
struct Reader {
  mnl_attr_cb_t read;
  void* into;
};

/// Passes the attributes of the answer to the Reader. Returns a result of libmnl.
int read_answer(const nlmsghdr* answer, void* reader) {
  const Reader& to = *static_cast<const Reader*>(reader);
  return mnl_attr_parse(answer, sizeof(ifinfomsg), to.read, to.into);
}

bool exchange(mnl_socket* socket, unsigned index, std::optional<std::uint32_t> network_namespace, Reader reader) {
  alignas(nlmsghdr) std::array<char, 32768> room{};
  nlmsghdr* const request = mnl_nlmsg_put_header(room.data());
  request->nlmsg_type = RTM_GETLINK;
  request->nlmsg_flags = NLM_F_REQUEST;
  auto* const link = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg)));
  link->ifi_family = AF_UNSPEC;
  link->ifi_index = static_cast<int>(index);
  if (network_namespace) mnl_attr_put_u32(request, IFLA_TARGET_NETNSID, *network_namespace);
  if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) != 0) return false;
  if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0) return false;
  const ssize_t size = mnl_socket_recvfrom(socket, room.data(), room.size());
  return size > 0 && mnl_cb_run(room.data(), static_cast<std::size_t>(size), 0, 0, read_answer, &reader) >= 0;
}

}  // namespace

bool request_link(unsigned index, std::optional<std::uint32_t> network_namespace, mnl_attr_cb_t read,
                  void* into) noexcept {
  mnl_socket* const socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == nullptr) return false;
  const bool answered = exchange(socket, index, network_namespace, {read, into});
  mnl_socket_close(socket);
  return answered;
}

std::string text_of(const nlattr* attribute) {
  return mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) < 0 ? std::string() : mnl_attr_get_str(attribute);
}

}  // namespace sluice::dpdk

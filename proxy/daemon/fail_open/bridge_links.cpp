// Creates and configures the fail-open bridge by rtnetlink(7), with libmnl. FailOpenBridge calls it at start and once
// a second. Invariant: each request is acknowledged by the kernel before the function returns; a refusal throws.
#include "proxy/daemon/fail_open/bridge_links.hpp"

#include <libmnl/libmnl.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sluice::proxy {
namespace {

constexpr std::size_t request_room = 1024;
/// size in bytes of the buffer for a netlink answer; if a list of interfaces is longer, the kernel sends it in several
/// messages
constexpr std::size_t answer_room = 32768;
constexpr const char* bridge_kind = "bridge";

[[noreturn]] void fail(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

/// Netlink request about one interface or about all interfaces.
class Request {
 public:
  Request(std::uint16_t type, int flags, unsigned index = 0) : header_(mnl_nlmsg_put_header(room_.data())) {
    header_->nlmsg_type = type;
    header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    link_ = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header_, sizeof(ifinfomsg)));
    link_->ifi_family = AF_UNSPEC;
    link_->ifi_index = static_cast<int>(index);
  }
  Request& text(std::uint16_t attribute, const std::string& value) {
    mnl_attr_put_strz(header_, attribute, value.c_str());
    return *this;
  }
  Request& byte(std::uint16_t attribute, std::uint8_t value) {
    mnl_attr_put_u8(header_, attribute, value);
    return *this;
  }
  Request& half(std::uint16_t attribute, std::uint16_t value) {
    mnl_attr_put_u16(header_, attribute, value);
    return *this;
  }
  Request& word(std::uint16_t attribute, std::uint32_t value) {
    mnl_attr_put_u32(header_, attribute, value);
    return *this;
  }
  /// Adds the attributes of an interface kind: the name of the kind, and nested attributes, which `put` adds.
  template <typename Put>
  Request& of_kind(std::uint16_t kind, std::uint16_t data, Put&& put) {
    nlattr* const outer = mnl_attr_nest_start(header_, IFLA_LINKINFO);
    text(kind, bridge_kind);
    nlattr* const inner = mnl_attr_nest_start(header_, data);
    put(*this);
    mnl_attr_nest_end(header_, inner);
    mnl_attr_nest_end(header_, outer);
    return *this;
  }
  Request& switched_on() {
    link_->ifi_flags = IFF_UP;
    link_->ifi_change = IFF_UP;
    return *this;
  }
  [[nodiscard]] nlmsghdr* header() { return header_; }

 private:
  alignas(nlmsghdr) std::array<char, request_room> room_{};
  nlmsghdr* header_;
  ifinfomsg* link_;
};

/// Calls use(type, attribute) for each attribute of a netlink message. `first` is the first attribute, and `bytes` is
/// the length of all.
template <typename Use>
void for_each_attribute(const nlattr* first, std::size_t bytes, Use&& use) {
  const auto* at = first;
  for (auto left = static_cast<int>(bytes); mnl_attr_ok(at, left);) {
    use(mnl_attr_get_type(at), at);
    left -= MNL_ALIGN(mnl_attr_get_len(at));
    at = mnl_attr_next(at);
  }
}

NetworkLink link_of(const nlmsghdr* answer) {
  const auto* const info = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(answer));
  NetworkLink link;
  link.index = static_cast<unsigned>(info->ifi_index);
  link.up = (info->ifi_flags & IFF_UP) != 0;
  const auto* const first = static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(answer, sizeof(ifinfomsg)));
  const auto* const end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(answer));
  for_each_attribute(first, static_cast<std::size_t>(end - static_cast<const char*>(static_cast<const void*>(first))),
                     [&](std::uint16_t type, const nlattr* attribute) {
                       if (type == IFLA_IFNAME) link.name = mnl_attr_get_str(attribute);
                       if (type == IFLA_MASTER) link.master = mnl_attr_get_u32(attribute);
                       if (type != IFLA_LINKINFO) return;
                       for_each_attribute(static_cast<const nlattr*>(mnl_attr_get_payload(attribute)),
                                          mnl_attr_get_payload_len(attribute),
                                          [&](std::uint16_t inner, const nlattr* kind) {
                                            if (inner == IFLA_INFO_KIND) link.kind = mnl_attr_get_str(kind);
                                          });
                     });
  return link;
}

}  // namespace

void BridgeLinks::Close::operator()(mnl_socket* socket) const {
  mnl_socket_close(socket);
}

BridgeLinks::BridgeLinks() : socket_(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)) {
  if (!socket_) fail("the kernel's interfaces cannot be listed");
  if (mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) != 0) fail("the kernel's interfaces cannot be listed");
}

template <typename Each>
void BridgeLinks::exchange(nlmsghdr* request, const std::string& what, Each&& each) {
  request->nlmsg_seq = ++sequence_;
  if (mnl_socket_sendto(socket_.get(), request, request->nlmsg_len) < 0) fail(what);
  alignas(nlmsghdr) std::array<char, answer_room> room;
  using Use = std::remove_reference_t<Each>;
  const mnl_cb_t call = [](const nlmsghdr* answer, void* use) {
    (*static_cast<Use*>(use))(answer);
    return MNL_CB_OK;
  };
  for (int more = MNL_CB_OK; more > MNL_CB_STOP;) {
    const ssize_t bytes = mnl_socket_recvfrom(socket_.get(), room.data(), room.size());
    if (bytes < 0) fail(what);
    more = mnl_cb_run(room.data(), static_cast<std::size_t>(bytes), sequence_, mnl_socket_get_portid(socket_.get()),
                      call, &each);
    if (more < 0) fail(what);
  }
}

void BridgeLinks::change(nlmsghdr* request, const std::string& what) {
  exchange(request, what, [](const nlmsghdr*) {});
}

std::optional<NetworkLink> BridgeLinks::find(const std::string& name) {
  std::optional<NetworkLink> found;
  Request request(RTM_GETLINK, NLM_F_ACK);
  request.text(IFLA_IFNAME, name);
  try {
    exchange(request.header(), "interface " + name, [&](const nlmsghdr* answer) { found = link_of(answer); });
  } catch (const std::system_error& error) {
    if (error.code().value() != ENODEV) throw;
  }
  return found;
}

std::vector<NetworkLink> BridgeLinks::all() {
  std::vector<NetworkLink> links;
  Request request(RTM_GETLINK, NLM_F_DUMP);
  exchange(request.header(), "the list of interfaces",
           [&](const nlmsghdr* answer) { links.push_back(link_of(answer)); });
  return links;
}

bool BridgeLinks::make(const std::string& name) {
  Request request(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  request.text(IFLA_IFNAME, name).of_kind(IFLA_INFO_KIND, IFLA_INFO_DATA, [](Request&) {});
  try {
    change(request.header(), "making the bridge " + name);
    return true;
  } catch (const std::system_error& error) {
    if (error.code().value() != EEXIST) throw;
    return false;
  }
}

void BridgeLinks::configure_as_wire(unsigned bridge) {
  const auto set = [&](const std::string& what, auto&& put) {
    Request request(RTM_NEWLINK, NLM_F_ACK, bridge);
    request.of_kind(IFLA_INFO_KIND, IFLA_INFO_DATA, put);
    change(request.header(), what);
  };
  // The forwarding delay has a minimum while the spanning tree is on, so the tree is switched off first.
  set("switching the bridge's spanning tree off", [](Request& data) { data.word(IFLA_BR_STP_STATE, 0); });
  set("setting the bridge's delay", [](Request& data) { data.word(IFLA_BR_FORWARD_DELAY, 0); });
  set("switching learning of groups off", [](Request& data) { data.byte(IFLA_BR_MCAST_SNOOPING, 0); });
  try {
    set("switching VLAN filtering off", [](Request& data) { data.byte(IFLA_BR_VLAN_FILTERING, 0); });
  } catch (const std::system_error& error) {
    if (error.code().value() != EOPNOTSUPP) throw;  // a kernel without VLAN filtering filters nothing
  }
}

void BridgeLinks::add(unsigned interface, unsigned bridge) {
  // Forwards all link-local group addresses 01-80-C2-00-00-0X except 01: PAUSE frames end at the next device (IEEE
  // 802.3x).
  constexpr std::uint16_t link_layer_protocols = 0xfffd;
  Request join(RTM_NEWLINK, NLM_F_ACK, interface);
  change(join.word(IFLA_MASTER, bridge).header(), "putting an interface into the bridge");
  Request flood(RTM_NEWLINK, NLM_F_ACK, interface);
  flood.of_kind(IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA, [](Request& data) {
    data.byte(IFLA_BRPORT_LEARNING, 0)
        .byte(IFLA_BRPORT_UNICAST_FLOOD, 1)
        .byte(IFLA_BRPORT_MCAST_FLOOD, 1)
        .byte(IFLA_BRPORT_BCAST_FLOOD, 1)
        .half(IFLA_BRPORT_GROUP_FWD_MASK, link_layer_protocols);
    mnl_attr_put(data.header(), IFLA_BRPORT_FLUSH, 0, nullptr);
  });
  change(flood.header(), "making the bridge flood");
}

void BridgeLinks::switch_on(unsigned interface) {
  Request request(RTM_NEWLINK, NLM_F_ACK, interface);
  change(request.switched_on().header(), "switching the bridge on");
}

}  // namespace sluice::proxy

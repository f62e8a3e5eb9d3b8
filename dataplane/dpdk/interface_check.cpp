// State of a kernel interface by ioctl, ethtool and rtnetlink, and whether it is suitable for a port. Called by Port at
// construction and when an interface was created again, and by the proxy when it checks its resources. An interface is
// suitable if it delivers every frame unchanged and no other component forwards its frames. Needs no privilege to
// check, CAP_NET_ADMIN to repair.

#include "dataplane/dpdk/interface_check.hpp"

#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

#include "dataplane/dpdk/link_request.hpp"

namespace sluice::dpdk {
namespace {

/// Socket and request block for ioctl calls about one interface.
class Interface {
 public:
  explicit Interface(const std::string& name) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0)
      throw std::runtime_error("cannot query the kernel about interfaces: " + std::string(strerror(errno)));
    name.copy(request_.ifr_name, IFNAMSIZ - 1);
  }
  ~Interface() { ::close(socket_); }
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  bool call(unsigned long what) { return ::ioctl(socket_, what, &request_) == 0; }
  [[nodiscard]] ifreq& request() { return request_; }

  /// Returns the result of an ethtool command whose argument is one number; nothing if it fails.
  std::optional<std::uint32_t> value(std::uint32_t command) {
    ethtool_value argument{.cmd = command, .data = 0};
    if (!ethtool(&argument)) return std::nullopt;
    return argument.data;
  }
  bool set_value(std::uint32_t command, std::uint32_t data) {
    ethtool_value argument{.cmd = command, .data = data};
    return ethtool(&argument);
  }
  std::string driver() {
    ethtool_drvinfo information{};
    information.cmd = ETHTOOL_GDRVINFO;
    if (!ethtool(&information)) return {};
    return {information.driver, strnlen(information.driver, sizeof information.driver)};
  }

 private:
  bool ethtool(void* argument) {
    request_.ifr_data = static_cast<char*>(argument);
    return call(SIOCETHTOOL);
  }

  int socket_;
  ifreq request_{};
};

/// Reads the kind of a master interface from a nested attribute. `into` is an InterfaceState. Returns MNL_CB_OK, so
/// that libmnl continues.
int read_kind(const nlattr* attribute, void* into) {
  if (mnl_attr_get_type(attribute) == IFLA_INFO_SLAVE_KIND)
    static_cast<InterfaceState*>(into)->master_kind = text_of(attribute);
  return MNL_CB_OK;
}

/// Reads one attribute of a link message. `into` is an InterfaceState. Returns MNL_CB_OK, so that libmnl continues.
int read_attribute(const nlattr* attribute, void* into) {
  InterfaceState& state = *static_cast<InterfaceState*>(into);
  std::array<char, IF_NAMESIZE> name{};
  switch (mnl_attr_get_type(attribute)) {
    case IFLA_MASTER:
      if (mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0 &&
          if_indextoname(mnl_attr_get_u32(attribute), name.data()) != nullptr)
        state.master = name.data();
      break;
    case IFLA_LINKINFO:
      mnl_attr_parse_nested(attribute, read_kind, into);
      break;
    case IFLA_PARENT_DEV_NAME:
      state.device = text_of(attribute);
      break;
    default:
      break;
  }
  return MNL_CB_OK;
}

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() < IFNAMSIZ;
}

}  // namespace

std::optional<InterfaceState> interface_state(const std::string& name) {
  if (!valid_name(name)) return std::nullopt;
  Interface interface(name);
  if (!interface.call(SIOCGIFFLAGS)) return std::nullopt;
  InterfaceState state;
  state.name = name;
  state.up = (interface.request().ifr_flags & IFF_UP) != 0;
  if (interface.call(SIOCGIFMTU)) state.mtu = static_cast<std::uint32_t>(interface.request().ifr_mtu);
  state.index = if_nametoindex(name.c_str());
  if (interface.call(SIOCGIFHWADDR)) state.link_type = interface.request().ifr_hwaddr.sa_family;
  // If the kernel does not answer, the fields stay empty, so that no problem of the interface is reported.
  request_link(state.index, std::nullopt, read_attribute, &state);
  state.driver = interface.driver();
  state.gro = interface.value(ETHTOOL_GGRO).value_or(0) != 0;
  const std::uint32_t flags = interface.value(ETHTOOL_GFLAGS).value_or(0);
  state.lro = (flags & ETH_FLAG_LRO) != 0;
  state.receive_vlan_stripping = (flags & ETH_FLAG_RXVLAN) != 0;
  return state;
}

bool carries_partial_checksums(const InterfaceState& state) {
  constexpr std::array<std::string_view, 2> of_the_hypervisor = {"virtio_net", "vif"};
  return state.device.empty() || std::ranges::find(of_the_hypervisor, state.driver) != of_the_hypervisor.end();
}

std::vector<std::string> interface_obstacles(const InterfaceState& state, bool standby) {
  std::vector<std::string> obstacles;
  if (state.link_type != ARPHRD_ETHER && state.link_type != ARPHRD_LOOPBACK) {
    obstacles.push_back("interface " + state.name + " has no Ethernet frames (link type " +
                        std::to_string(state.link_type) +
                        (state.link_type == ARPHRD_NONE ? ", as a TUN device or a tunnel): take a TAP device or a veth"
                                                        : "): take an Ethernet interface"));
  }
  // A VRF only selects routes. Every other master forwards frames, as this program does.
  const bool stands_by = standby && state.master_kind == "bridge";
  if (!state.master.empty() && state.master_kind != "vrf" && !stands_by) {
    const std::string kind = state.master_kind.empty() ? std::string("another interface") : state.master_kind;
    obstacles.push_back("interface " + state.name + " is a member of " + state.master + " (" + kind +
                        "), which forwards every received frame, as this program does; run: ip link set dev " +
                        state.name + " nomaster" +
                        (state.master_kind == "bridge" ? ", or set fail_open: bridge if it is the fallback" : ""));
  }
  return obstacles;
}

std::vector<std::string> interface_problems(const std::string& name, std::uint16_t mtu) {
  const std::optional<InterfaceState> state = interface_state(name);
  if (!state) {
    return {"there is no interface '" + name + "' in this network namespace; 'ip link show' lists what there is"};
  }
  std::vector<std::string> problems;
  if (!state->up) problems.push_back("interface " + name + " is down; run: ip link set dev " + name + " up");
  if (state->gro) {
    problems.push_back("interface " + name + " merges received packets (GRO); run: ethtool -K " + name + " gro off");
  }
  if (state->lro) {
    problems.push_back("interface " + name + " merges received packets (LRO); run: ethtool -K " + name + " lro off");
  }
  if (state->mtu < mtu) {
    problems.push_back("interface " + name + " has an MTU of " + std::to_string(state->mtu) + ", " +
                       std::to_string(mtu) + " is needed; run: ip link set dev " + name + " mtu " +
                       std::to_string(mtu));
  }
  return problems;
}

std::vector<std::string> repair_interface(const std::string& name, std::uint16_t mtu) {
  const std::optional<InterfaceState> state = interface_state(name);
  if (!state) return interface_problems(name, mtu);
  Interface interface(name);
  if (state->gro) interface.set_value(ETHTOOL_SGRO, 0);
  if (state->lro) {
    const std::uint32_t flags = interface.value(ETHTOOL_GFLAGS).value_or(0);
    interface.set_value(ETHTOOL_SFLAGS, flags & ~std::uint32_t{ETH_FLAG_LRO});
  }
  if (state->mtu < mtu) {
    interface.request().ifr_mtu = mtu;
    interface.call(SIOCSIFMTU);
  }
  if (!state->up && interface.call(SIOCGIFFLAGS)) {
    interface.request().ifr_flags = static_cast<short>(interface.request().ifr_flags | IFF_UP);
    interface.call(SIOCSIFFLAGS);
  }
  return interface_problems(name, mtu);
}

void require_usable_interface(const std::string& name, std::uint16_t mtu, bool repair) {
  const std::vector<std::string> problems = repair ? repair_interface(name, mtu) : interface_problems(name, mtu);
  if (problems.empty()) return;
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
  throw std::runtime_error(text);
}

}  // namespace sluice::dpdk

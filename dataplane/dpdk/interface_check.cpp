#include "dataplane/dpdk/interface_check.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace sluice::dpdk {
namespace {

/// A socket to ask the kernel through, and one interface's request block.
class Interface {
 public:
  explicit Interface(const std::string& name) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0)
      throw std::runtime_error("cannot ask the kernel about interfaces: " + std::string(strerror(errno)));
    name.copy(request_.ifr_name, IFNAMSIZ - 1);
  }
  ~Interface() { ::close(socket_); }
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  bool call(unsigned long what) { return ::ioctl(socket_, what, &request_) == 0; }
  [[nodiscard]] ifreq& request() { return request_; }

  /// An ethtool command whose argument is one number.
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
  state.driver = interface.driver();
  state.gro = interface.value(ETHTOOL_GGRO).value_or(0) != 0;
  const std::uint32_t flags = interface.value(ETHTOOL_GFLAGS).value_or(0);
  state.lro = (flags & ETH_FLAG_LRO) != 0;
  state.receive_vlan_stripping = (flags & ETH_FLAG_RXVLAN) != 0;
  return state;
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
                       std::to_string(mtu) + " is wanted; run: ip link set dev " + name + " mtu " +
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

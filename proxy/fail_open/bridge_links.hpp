#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct mnl_socket;
struct nlmsghdr;

namespace sluice::proxy {

/// A network interface as the kernel knows it.
struct NetworkLink {
  unsigned index = 0;
  std::string name;
  unsigned master = 0;  ///< the index of the bridge, bond, … that it is a member of; 0: of none
  std::string kind;     ///< "bridge", "veth", …; empty for what nobody has made
  bool up = false;      ///< switched on, whether there is a carrier or not
};

/// The kernel's interfaces and bridges in this network namespace, asked and changed by rtnetlink(7). What changes
/// something needs CAP_NET_ADMIN. Every function throws std::system_error where the kernel refuses. Thread: one.
class BridgeLinks {
 public:
  BridgeLinks();

  [[nodiscard]] std::optional<NetworkLink> find(const std::string& name);
  /// Every interface.
  [[nodiscard]] std::vector<NetworkLink> all();
  /// Makes a bridge, switched off. False where there is an interface of that name.
  [[nodiscard]] bool make(const std::string& name);
  /// Has the bridge carry what a cable would, at once and unseen: no spanning tree and no delay, no learning of groups,
  /// VLANs as they come, nothing judged by the host's firewall.
  void configure_as_wire(unsigned bridge);
  /// Puts the interface into the bridge, flooding whatever comes, link-layer protocols too.
  void add(unsigned interface, unsigned bridge);
  void switch_on(unsigned interface);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  /// Sends a request and hands every answer to `each`, until the kernel says that it was the last.
  template <typename Each>
  void exchange(nlmsghdr* request, const std::string& what, Each&& each);
  void change(nlmsghdr* request, const std::string& what);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace sluice::proxy

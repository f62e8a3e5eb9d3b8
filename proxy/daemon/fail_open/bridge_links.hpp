#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct mnl_socket;
struct nlmsghdr;

namespace sluice::proxy {

/// Properties of a network interface as the kernel reports them.
struct NetworkLink {
  unsigned index = 0;
  std::string name;
  unsigned master = 0;  ///< index of the bridge or bond that the interface belongs to; 0 if none
  std::string kind;     ///< kind of the interface: "bridge", "veth" …; empty for a physical one
  bool up = false;      ///< true if the interface is switched on, with or without a carrier
};

/// Queries and changes the interfaces and bridges of this network namespace by rtnetlink(7). Changes need
/// CAP_NET_ADMIN. Every function throws std::system_error if the kernel refuses. Thread: one.
class BridgeLinks {
 public:
  BridgeLinks();

  [[nodiscard]] std::optional<NetworkLink> find(const std::string& name);
  /// Returns every interface of this network namespace.
  [[nodiscard]] std::vector<NetworkLink> all();
  /// Creates a bridge that is switched off. Returns false if an interface of that name exists.
  [[nodiscard]] bool make(const std::string& name);
  /// Configures the bridge to forward like a cable, at once and unchanged: no spanning tree, no delay, no multicast
  /// snooping and no VLAN filtering.
  void configure_as_wire(unsigned bridge);
  /// Adds the interface to the bridge, which floods all frames to it, including link-layer protocols.
  void add(unsigned interface, unsigned bridge);
  void switch_on(unsigned interface);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  /// Sends a netlink request and passes every answer to `each` until the last one.
  template <typename Each>
  void exchange(nlmsghdr* request, const std::string& what, Each&& each);
  /// Sends a netlink request and waits for the kernel's acknowledgement. `what` describes it in errors.
  void change(nlmsghdr* request, const std::string& what);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace sluice::proxy

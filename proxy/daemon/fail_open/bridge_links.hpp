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
  unsigned master = 0;  ///< interface index of the bridge or bond of which the interface is a member; 0 if none
  std::string kind;     ///< kind of the interface: "bridge", "veth" …; empty for a physical one
  bool up = false;      ///< true if the interface is administratively up, with or without a carrier
};

/// Queries and changes the interfaces and bridges of this network namespace by rtnetlink(7). Changes need
/// CAP_NET_ADMIN. Every function throws std::system_error if the kernel refuses. Thread: one.
class BridgeLinks {
 public:
  BridgeLinks();

  [[nodiscard]] std::optional<NetworkLink> find(const std::string& name);
  /// Returns every interface of this network namespace.
  [[nodiscard]] std::vector<NetworkLink> all();
  /// Creates a bridge that is administratively down. Returns false if an interface of this name already exists.
  [[nodiscard]] bool make(const std::string& name);
  /// Configures the bridge to forward all frames like a cable, without delay or change. Spanning tree, forward delay,
  /// multicast snooping and VLAN filtering are off.
  void configure_as_wire(unsigned bridge);
  /// Adds the interface to the bridge. The bridge floods every frame to it, including frames of link-layer protocols,
  /// but not PAUSE frames.
  void add(unsigned interface, unsigned bridge);
  void switch_on(unsigned interface);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  /// Sends a netlink request and passes each message of the answer to `each`. `what` describes the request in errors.
  template <typename Each>
  void exchange(nlmsghdr* request, const std::string& what, Each&& each);
  /// Sends a netlink request that changes something, and waits for the kernel's acknowledgement. `what` describes the
  /// request in errors.
  void change(nlmsghdr* request, const std::string& what);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace sluice::proxy

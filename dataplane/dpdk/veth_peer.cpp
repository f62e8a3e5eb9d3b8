// The MTU of a veth's other end. Called by Port each time the proxy checks its links, because the kernel reports no
// change of an interface in another network namespace.

#include "dataplane/dpdk/veth_peer.hpp"

#include <linux/if_link.h>
#include <net/if.h>

#include <algorithm>

#include "dataplane/dpdk/link_request.hpp"

namespace sluice::dpdk {
namespace {

/// State of one end of a veth pair, as the kernel reports it.
struct VethEnd {
  bool veth = false;
  std::uint32_t peer_index = 0;  ///< index of the other end in its network namespace; 0 if unknown
  /// Identifier of the other end's network namespace; nothing if it is this process's namespace.
  std::optional<std::uint32_t> peer_namespace;
  std::uint32_t mtu = 0;
};

/// Sets VethEnd::veth if a nested attribute states that the interface is a veth. `into` is a VethEnd. Returns
/// MNL_CB_OK, so that libmnl continues.
int read_link_kind(const nlattr* attribute, void* into) {
  if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND) static_cast<VethEnd*>(into)->veth = text_of(attribute) == "veth";
  return MNL_CB_OK;
}

/// Reads one attribute of an interface. `into` is the VethEnd in which the attribute is stored.
int read_veth_end(const nlattr* attribute, void* into) {
  VethEnd& end = *static_cast<VethEnd*>(into);
  if (mnl_attr_get_type(attribute) == IFLA_LINKINFO) return mnl_attr_parse_nested(attribute, read_link_kind, into);
  if (mnl_attr_validate(attribute, MNL_TYPE_U32) < 0) return MNL_CB_OK;
  switch (mnl_attr_get_type(attribute)) {
    case IFLA_LINK:
      end.peer_index = mnl_attr_get_u32(attribute);
      break;
    case IFLA_LINK_NETNSID:
      end.peer_namespace = mnl_attr_get_u32(attribute);
      break;
    case IFLA_MTU:
      end.mtu = mnl_attr_get_u32(attribute);
      break;
    default:
      break;
  }
  return MNL_CB_OK;
}

}  // namespace

std::optional<std::uint16_t> veth_peer_mtu(const std::string& name) noexcept {
  VethEnd own;
  if (!request_link(if_nametoindex(name.c_str()), std::nullopt, read_veth_end, &own)) return std::nullopt;
  if (!own.veth || own.peer_index == 0) return std::nullopt;
  VethEnd peer;
  if (!request_link(own.peer_index, own.peer_namespace, read_veth_end, &peer)) return std::nullopt;
  if (!peer.veth || peer.mtu == 0) return std::nullopt;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(peer.mtu, UINT16_MAX));
}

}  // namespace sluice::dpdk

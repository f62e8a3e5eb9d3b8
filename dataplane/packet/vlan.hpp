#pragma once

#include <span>

#include "dataplane/packet/outer_headers.hpp"

namespace sluice::packet {

/// VLAN tags of IEEE 802.1Q and IEEE 802.1ad (QinQ), also with the EtherType that was used before 802.1ad. VLAN id and
/// tag type identify the network; priority bits do not. A tag with VLAN id 0 carries only a priority and identifies no
/// network.
struct VlanTag {
  // Bits of a NetworkTag.
  static constexpr std::uint16_t present = 0x1000, service = 0x2000, old_service = 0x4000;
  /// Returns the VLAN id of a network.
  [[nodiscard]] static constexpr std::uint16_t id(NetworkTag network) { return network.bits & 0x0fffU; }

  static constexpr std::size_t length = vlan_tag_length, max_length = 2 * vlan_tag_length;
  static constexpr bool varies = false;

  /// True if a VLAN tag begins after this EtherType.
  [[nodiscard]] static constexpr bool begins(std::uint16_t type) {
    return type == ethertype::vlan || type == ethertype::service_vlan || type == ethertype::old_service_vlan;
  }
  /// Reads one VLAN tag from `rest`, which has at least the four bytes of a tag. Returns `too_deep` if the flow key has
  /// no space for the network.
  [[nodiscard]] static OuterResult read(std::span<const std::uint8_t> rest, OuterHeaders& outer) {
    const unsigned kind = outer.type == ethertype::service_vlan       ? service
                          : outer.type == ethertype::old_service_vlan ? old_service
                                                                      : 0U;
    const unsigned vlan = load_be16(rest.data()) & 0x0fffU;
    if (vlan != 0 && !outer.add({static_cast<std::uint16_t>(vlan | present | kind)})) return OuterResult::too_deep;
    outer.type = load_be16(rest.data() + 2);
    outer.length += length;
    return OuterResult::complete;
  }
};

}  // namespace sluice::packet

// Headers in front of the IP header: readers, templates and the MTU. The parser, the builders, RSS by software and the
// emulator call these functions. Frames and journal entries are hostile input: a header is read only after its length
// was checked, and all headers together have at most max_outer_length bytes, so that every loop ends. The functions are
// not inlined, because a frame without tags does not call them.

#include "dataplane/packet/encapsulation.hpp"

#include <algorithm>

namespace sluice::packet {
namespace {

/// Reads one header of the class `Header`, which begins at outer.length. Returns whether it could be read.
template <typename Header>
OuterResult read_one(Encapsulation kind, std::span<const std::uint8_t> frame, OuterHeaders& outer) noexcept {
  if (outer.length + Header::length > max_outer_length) return OuterResult::too_deep;
  if (outer.end < outer.length + Header::length) return OuterResult::truncated;
  if constexpr (Header::varies) outer.kind = kind;
  const OuterResult result = Header::read(frame.first(outer.end).subspan(outer.length), outer);
  return result == OuterResult::complete && outer.length > max_outer_length ? OuterResult::too_deep : result;
}

/// True if a header of the class `Header` follows the EtherType `type`. `rest` are the bytes after the EtherType.
template <typename Header>
bool begins(std::uint16_t type, std::span<const std::uint8_t> rest) noexcept {
  if constexpr (is_tunnel_over_ip<Header>) {
    return Header::begins(type, rest);
  } else {
    static_cast<void>(rest);
    return Header::begins(type);
  }
}

/// Stores in `kind` the kind of outer header that follows the EtherType; returns false if there is none. `rest` are the
/// bytes after the EtherType.
bool find_kind(std::uint16_t type, std::span<const std::uint8_t> rest, Encapsulation& kind) noexcept {
#define X(name, header) \
  if (begins<header>(type, rest)) return kind = Encapsulation::name, true;
  SLUICE_ENCAPSULATIONS(X)
#undef X
  return false;
}

OuterResult read_kind(Encapsulation kind, std::span<const std::uint8_t> frame, OuterHeaders& outer) noexcept {
  switch (kind) {
#define X(name, header)     \
  case Encapsulation::name: \
    return read_one<header>(kind, frame, outer);
    SLUICE_ENCAPSULATIONS(X)
#undef X
    case Encapsulation::constant:
      break;
  }
  return OuterResult::too_deep;
}

template <typename Header>
void write_if_varying(std::span<std::uint8_t> outer, std::uint16_t ip_length) noexcept {
  if constexpr (Header::varies) {
    Header::write(outer, ip_length);
  } else {
    static_cast<void>(outer);
    static_cast<void>(ip_length);
  }
}

}  // namespace

[[gnu::noinline]] OuterResult read_shims(std::span<const std::uint8_t> frame, OuterHeaders& outer) noexcept {
  Encapsulation kind{};
  // A header that depends on the packet is the last one, because only the last one is written for each packet.
  while (outer.kind == Encapsulation::constant &&
         find_kind(outer.type, frame.first(outer.end).subspan(outer.length), kind)) {
    if (const OuterResult result = read_kind(kind, frame, outer); result != OuterResult::complete) return result;
  }
  return OuterResult::complete;
}

[[gnu::noinline]] void write_lengths(std::span<std::uint8_t> outer, Encapsulation kind,
                                     std::uint16_t ip_length) noexcept {
  switch (kind) {
#define X(name, header)     \
  case Encapsulation::name: \
    return write_if_varying<header>(outer, ip_length);
    SLUICE_ENCAPSULATIONS(X)
#undef X
    case Encapsulation::constant:
      return;
  }
}

[[gnu::noinline]] std::optional<OuterTemplate> OuterTemplate::from_bytes(std::span<const std::uint8_t> bytes) noexcept {
  OuterHeaders outer;
  if (read_outer_headers(bytes, outer) != OuterResult::complete || outer.length != bytes.size()) return std::nullopt;
  OuterTemplate result;
  std::ranges::copy(bytes, result.bytes.begin());
  result.length = outer.length;
  result.kind = outer.kind;
  return result;
}

[[gnu::noinline]] OuterTemplate OuterTemplate::learn(std::span<const std::uint8_t> frame,
                                                     std::uint8_t length) noexcept {
  OuterTemplate result;
  result.length = length;
  if (length == ethernet_length) [[likely]] {
    std::memcpy(result.bytes.data(), frame.data(), ethernet_length);
    return result;
  }
  std::memcpy(result.bytes.data(), frame.data(), std::min<std::size_t>(length, result.bytes.size()));
  if (OuterHeaders outer; read_outer_headers(frame, outer) == OuterResult::complete) result.kind = outer.kind;
  write_lengths({result.bytes.data(), length}, result.kind, 0);
  return result;
}

void OuterTemplate::swap_addresses() noexcept {
  constexpr int mac = 6;
  std::swap_ranges(bytes.begin(), bytes.begin() + mac, bytes.begin() + mac);
}

[[gnu::noinline]] bool same_shims(const OuterTemplate& known, std::span<const std::uint8_t> frame) noexcept {
  if (frame.size() < known.length) return false;
  if constexpr (some_tunnel_over_ip) {
    // Frames with and without a tunnel begin with the same bytes, so that their lengths have to be compared.
    if (OuterHeaders here; read_outer_headers(frame, here) != OuterResult::complete || here.length != known.length)
      return false;
  }
  std::array<std::uint8_t, max_outer_length> here{};
  std::ranges::copy(frame.first(known.length), here.begin());
  write_lengths({here.data(), known.length}, known.kind, 0);
  return std::equal(known.bytes.begin(), known.bytes.begin() + known.length, here.begin());
}

[[gnu::noinline]] std::size_t bytes_beyond_mtu(std::span<const std::uint8_t> frame, bool counted) noexcept {
  // Devices and kernels make allowance for VLAN tags only. Every other outer header is a part of the payload to them.
  constexpr std::size_t type_at = ethernet_length - 2, most = 2;
  std::size_t tags = 0;
  while (tags < most && type_at + tags * VlanTag::length + 2 <= frame.size()) {
    const std::uint16_t type = load_be16(frame.data() + type_at + tags * VlanTag::length);
    if (!VlanTag::begins(type) || (counted && type != ethertype::vlan)) break;
    ++tags;
    if (counted) break;
  }
  return tags * VlanTag::length;
}

}  // namespace sluice::packet

#include "emulator/aqm/ecn.hpp"

#include "dataplane/packet/ecn_field.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

bool mark_congestion(packet::Packet& frame) {
  const auto header = read_ip_header(frame.bytes());
  return header && packet::mark_congestion_experienced(frame.data() + header->offset);
}

std::uint8_t ecn_of(const packet::Packet& frame) {
  const auto header = read_ip_header(frame.bytes());
  return header ? packet::ecn_field(frame.data() + header->offset) : packet::EcnField::not_ect;
}

}  // namespace sluice::emulator

// Implements X2Forwarding: the data forwarding of an LTE handover between Node-Bs (TS 36.300 section 10.1.2). For
// each handover, `runtime/mobility` calls expect() at the new Node-B, leave() at the old one and later
// path_switched() at both. The core and the neighbour Node-Bs send packets. Packets of one UE keep their order:
// forwarded ones precede those of the new path, which wait for the end marker. A timeout releases them if the marker
// is lost.

#include "emulator/cell/x2_forwarding.hpp"

#include <utility>

#include "emulator/net/end_marker.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

X2Forwarding::X2Forwarding(EventLoop& loop, Cell& cell) : loop_(loop), cell_(cell), forwardings_(cell.ues()) {
  for (UeIndex ue = 0; ue < forwardings_.size(); ++ue) forwardings_[ue].left = !cell.here(ue);
}

void X2Forwarding::receive(packet::Packet packet, Instant now) {
  if (const auto marker = read_end_marker(packet.bytes())) {
    if (marker->ue < forwardings_.size()) old_path_ends(std::move(packet), marker->ue, marker->handover, now);
    return;
  }
  const auto header = read_ip_header(packet.bytes());
  const auto ue = header ? cell_.find(header->destination) : std::nullopt;
  if (!ue) return cell_.receive(std::move(packet), now);
  const UeForwarding& forwarding = forwardings_[*ue];
  if (forwarding.left || forwarding.draining) return follow(*ue, std::move(packet), header->length, now);
  if (forwarding.holding) return hold(*ue, std::move(packet), header->length, now);
  cell_.receive(std::move(packet), now);
}

void X2Forwarding::on_forwarded(packet::Packet packet, Instant now) {
  if (const auto marker = read_end_marker(packet.bytes())) {
    // A marker of an earlier handover is ignored, because the UE has left again meanwhile.
    if (marker->ue < forwardings_.size() && marker->handover == forwardings_[marker->ue].last_handover)
      release(marker->ue, now);
    return;
  }
  const auto header = read_ip_header(packet.bytes());
  const auto ue = header ? cell_.find(header->destination) : std::nullopt;
  if (!ue) return;
  if (forwardings_[*ue].left) {
    cell_.downlink(*ue).record_taken_over(header->length);
    return follow(*ue, std::move(packet), header->length, now);
  }
  cell_.take_over(*ue, std::move(packet), header->length, now);
}

void X2Forwarding::follow(UeIndex ue, packet::Packet packet, Bytes length, Instant now) {
  if (forwardings_[ue].onwards != nullptr) {
    cell_.downlink(ue).pass_on(std::move(packet), length, *forwardings_[ue].onwards, now);
  } else {
    cell_.downlink(ue).reject(packet, length, DropReason::handover, now);
  }
}

void X2Forwarding::hold(UeIndex ue, packet::Packet packet, Bytes length, Instant now) {
  Ring<Held>& held = forwardings_[ue].held;
  if (held.size() >= max_held) return cell_.downlink(ue).reject(packet, length, DropReason::handover, now);
  held.push({std::move(packet), length});
  ++counters_.held_packets;
}

void X2Forwarding::release(UeIndex ue, Instant now) {
  UeForwarding& forwarding = forwardings_[ue];
  forwarding.holding = false;
  while (!forwarding.held.empty()) cell_.receive(forwarding.held.pop().packet, now);
}

void X2Forwarding::old_path_ends(packet::Packet frame, UeIndex ue, std::uint32_t handover, Instant now) {
  UeForwarding& forwarding = forwardings_[ue];
  if (handover != forwarding.left_by) return;
  forwarding.draining = false;
  if (forwarding.onwards != nullptr) forwarding.onwards->receive(std::move(frame), now);
}

void X2Forwarding::leave(UeIndex ue, std::uint32_t handover, Element* onwards, Instant now) {
  UeForwarding& forwarding = forwardings_[ue];
  forwarding.left = true;
  forwarding.draining = true;
  forwarding.onwards = onwards;
  forwarding.left_by = handover;
  cell_.set_state(ue, control::feedback::RadioState::handover);
  cell_.downlink(ue).reset_link(now);
  if (onwards != nullptr) {
    cell_.downlink(ue).forward_all(*onwards, now);
  } else {
    cell_.downlink(ue).flush(DropReason::handover, now);
    cell_.set_losing(ue);
  }
  // Packets that still waited for the end marker follow the forwarded ones.
  forwarding.holding = false;
  while (!forwarding.held.empty()) {
    Held next = forwarding.held.pop();
    follow(ue, std::move(next.packet), next.length, now);
  }
}

void X2Forwarding::expect(UeIndex ue, std::uint32_t handover, bool forwarded) {
  UeForwarding& forwarding = forwardings_[ue];
  forwarding.left = false;
  forwarding.holding = forwarded;
  forwarding.last_handover = handover;
}

void X2Forwarding::path_switched(UeIndex ue, std::uint32_t handover, Instant now) {
  loop_.at(now + marker_timeout, *this, std::uint64_t{handover} << 32 | ue);
}

void X2Forwarding::on_event(std::uint64_t tag, Instant now) {
  const auto ue = static_cast<UeIndex>(tag);
  const auto handover = static_cast<std::uint32_t>(tag >> 32);
  UeForwarding& forwarding = forwardings_[ue];
  if (forwarding.left_by == handover) forwarding.draining = false;
  if (forwarding.last_handover != handover || !forwarding.holding) return;
  ++counters_.timeouts;
  release(ue, now);
}

}  // namespace sluice::emulator

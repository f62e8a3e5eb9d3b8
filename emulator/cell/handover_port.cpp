// Implements HandoverPort: the data forwarding of an LTE handover between Node-Bs (TS 36.300 section 10.1.2). For
// each handover, `runtime/mobility` calls expect() at the new Node-B, leave() at the old one and later
// path_switched() at both. The core and the neighbour Node-Bs send packets. Packets of one UE keep their order:
// forwarded ones precede those of the new path, which wait for the end marker. A timeout releases them if the marker
// is lost.

#include "emulator/cell/handover_port.hpp"

#include <utility>

#include "emulator/net/end_marker.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

HandoverPort::HandoverPort(EventLoop& loop, Cell& cell) : loop_(loop), cell_(cell), passages_(cell.ues()) {
  for (UeIndex ue = 0; ue < passages_.size(); ++ue) passages_[ue].left = !cell.here(ue);
}

void HandoverPort::receive(packet::Packet packet, Instant now) {
  if (const auto marker = read_end_marker(packet.bytes())) {
    if (marker->ue < passages_.size()) old_path_ends(std::move(packet), marker->ue, marker->handover, now);
    return;
  }
  const auto header = read_ip_header(packet.bytes());
  const auto ue = header ? cell_.find(header->destination) : std::nullopt;
  if (!ue) return cell_.receive(std::move(packet), now);
  const Passage& passage = passages_[*ue];
  if (passage.left || passage.draining) return follow(*ue, std::move(packet), header->length, now);
  if (passage.holding) return hold(*ue, std::move(packet), header->length, now);
  cell_.receive(std::move(packet), now);
}

void HandoverPort::from_neighbour(packet::Packet packet, Instant now) {
  if (const auto marker = read_end_marker(packet.bytes())) {
    // A marker of an earlier handover is ignored, because the UE has left again meanwhile.
    if (marker->ue < passages_.size() && marker->handover == passages_[marker->ue].came_by) release(marker->ue, now);
    return;
  }
  const auto header = read_ip_header(packet.bytes());
  const auto ue = header ? cell_.find(header->destination) : std::nullopt;
  if (!ue) return;
  if (passages_[*ue].left) {
    cell_.downlink(*ue).record_taken_over(header->length);
    return follow(*ue, std::move(packet), header->length, now);
  }
  cell_.take_over(*ue, std::move(packet), header->length, now);
}

void HandoverPort::follow(UeIndex ue, packet::Packet packet, Bytes length, Instant now) {
  if (passages_[ue].onwards != nullptr) {
    cell_.downlink(ue).pass_on(std::move(packet), length, *passages_[ue].onwards, now);
  } else {
    cell_.downlink(ue).turn_away(packet, length, DropReason::handover, now);
  }
}

void HandoverPort::hold(UeIndex ue, packet::Packet packet, Bytes length, Instant now) {
  Ring<Held>& held = passages_[ue].held;
  if (held.size() >= max_held) return cell_.downlink(ue).turn_away(packet, length, DropReason::handover, now);
  held.push({std::move(packet), length});
  ++counters_.held_packets;
}

void HandoverPort::release(UeIndex ue, Instant now) {
  Passage& passage = passages_[ue];
  passage.holding = false;
  while (!passage.held.empty()) cell_.receive(passage.held.pop().packet, now);
}

void HandoverPort::old_path_ends(packet::Packet frame, UeIndex ue, std::uint32_t handover, Instant now) {
  Passage& passage = passages_[ue];
  if (handover != passage.left_by) return;
  passage.draining = false;
  if (passage.onwards != nullptr) passage.onwards->receive(std::move(frame), now);
}

void HandoverPort::leave(UeIndex ue, std::uint32_t handover, Element* onwards, Instant now) {
  Passage& passage = passages_[ue];
  passage.left = true;
  passage.draining = true;
  passage.onwards = onwards;
  passage.left_by = handover;
  cell_.set_state(ue, control::feedback::RadioState::handover);
  cell_.downlink(ue).reset_link(now);
  if (onwards != nullptr) {
    cell_.downlink(ue).hand_on(*onwards, now);
  } else {
    cell_.downlink(ue).flush(DropReason::handover, now);
    cell_.set_losing(ue);
  }
  // Packets that still waited for the end marker follow the forwarded ones.
  passage.holding = false;
  while (!passage.held.empty()) {
    Held next = passage.held.pop();
    follow(ue, std::move(next.packet), next.length, now);
  }
}

void HandoverPort::expect(UeIndex ue, std::uint32_t handover, bool forwarded) {
  Passage& passage = passages_[ue];
  passage.left = false;
  passage.holding = forwarded;
  passage.came_by = handover;
}

void HandoverPort::path_switched(UeIndex ue, std::uint32_t handover, Instant now) {
  loop_.at(now + marker_timeout, *this, std::uint64_t{handover} << 32 | ue);
}

void HandoverPort::on_event(std::uint64_t tag, Instant now) {
  const auto ue = static_cast<UeIndex>(tag);
  const auto handover = static_cast<std::uint32_t>(tag >> 32);
  Passage& passage = passages_[ue];
  if (passage.left_by == handover) passage.draining = false;
  if (passage.came_by != handover || !passage.holding) return;
  ++counters_.timeouts;
  release(ue, now);
}

}  // namespace sluice::emulator

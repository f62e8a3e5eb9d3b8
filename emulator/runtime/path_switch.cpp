#include "emulator/runtime/path_switch.hpp"

#include <utility>

#include "emulator/net/end_marker.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

void UeMap::add(const std::vector<IpAddress>& addresses, std::uint32_t nodeb) {
  for (const IpAddress& address : addresses) by_address_.emplace(address, static_cast<std::uint32_t>(nodebs_.size()));
  nodebs_.push_back(nodeb);
}

const std::uint32_t* UeMap::find(const IpAddress& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : &found->second;
}

void PathSwitch::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const std::uint32_t* const ue = header ? ues_.find(header->destination) : nullptr;
  paths_[ue != nullptr ? ues_.nodeb(*ue) : 0]->receive(std::move(packet), now);
}

void PathSwitch::lead(std::uint32_t ue, std::uint32_t nodeb, std::uint32_t handover, Instant now) {
  packet::Packet marker = make_end_marker(pool_, {ue, handover});
  if (marker) paths_[ues_.nodeb(ue)]->receive(std::move(marker), now);
  ues_.set_nodeb(ue, nodeb);
}

UplinkSwitch::UplinkSwitch(UeMap ues, std::vector<Element*> lines)
    : ues_(std::move(ues)), lines_(std::move(lines)), between_(ues_.ues()) {}

void UplinkSwitch::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const std::uint32_t* const ue = header ? ues_.find(header->source) : nullptr;
  if (ue == nullptr) return lines_.front()->receive(std::move(packet), now);
  Between& between = between_[*ue];
  if (!between.is) return lines_[ues_.nodeb(*ue)]->receive(std::move(packet), now);
  if (between.waiting.size() < max_waiting) {
    between.waiting.push(std::move(packet));
  } else {
    ++dropped_;
  }
}

void UplinkSwitch::arrive(std::uint32_t ue, std::uint32_t nodeb, Instant now) {
  ues_.set_nodeb(ue, nodeb);
  Between& between = between_[ue];
  between.is = false;
  while (!between.waiting.empty()) lines_[nodeb]->receive(between.waiting.pop(), now);
}

}  // namespace sluice::emulator

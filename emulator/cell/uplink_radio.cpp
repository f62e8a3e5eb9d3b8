#include "emulator/cell/uplink_radio.hpp"

#include <stdexcept>
#include <utility>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

UplinkRadio::UplinkRadio(EventLoop& loop, Duration tti, Element& next) : loop_(loop), tti_(tti), next_(next) {
  if (tti <= Duration::zero()) throw std::invalid_argument("uplink: the TTI must be positive");
}

void UplinkRadio::add_ue(UplinkConfig config) {
  if (config.channel == nullptr) throw std::invalid_argument("uplink: a UE without a channel");
  if (config.addresses.empty()) throw std::invalid_argument("uplink: a UE without an address");
  for (const IpAddress& address : config.addresses) {
    if (!by_address_.emplace(address, static_cast<std::uint32_t>(uplinks_.size())).second) {
      throw std::invalid_argument("uplink: two UEs with the address " + address.to_string());
    }
  }
  uplinks_.push_back({UeQueue(config.queue), std::move(config.channel), false});
}

void UplinkRadio::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const auto at = header ? by_address_.find(header->source) : by_address_.end();
  if (at == by_address_.end()) {
    next_.receive(std::move(packet), now);
    return;
  }
  const auto refused = [&](const packet::Packet& gone, Bytes length) {
    drop(at->second, gone, length, DropReason::full, now);
  };
  if (!uplinks_[at->second].queue.push(std::move(packet), header->length, now, refused)) return;
  wake(at->second, tti_of(now) + 1);
}

void UplinkRadio::wake(std::uint32_t index, std::uint64_t from) {
  Uplink& uplink = uplinks_[index];
  if (uplink.awake) return;
  const std::uint64_t tti = uplink.channel->next_useful(from);
  if (tti == UINT64_MAX) return;  // the channel never carries anything again
  uplink.awake = true;
  loop_.at(Instant(Duration(static_cast<Duration::rep>(tti) * tti_.count())), *this, index);
}

void UplinkRadio::drop(std::uint32_t index, const packet::Packet& packet, Bytes length, DropReason reason,
                       Instant now) {
  if (observer_ != nullptr) observer_->on_drop(index, packet, length, reason, now);
}

void UplinkRadio::on_event(std::uint64_t tag, Instant now) {
  const auto index = static_cast<std::uint32_t>(tag);
  Uplink& uplink = uplinks_[index];
  const std::uint64_t tti = tti_of(now);
  uplink.awake = false;
  const Bytes carried = uplink.channel->at(tti).carried();
  const auto depart = [&](Departed&& departed) {
    if (observer_ != nullptr) {
      observer_->on_departure(index, departed.packet, departed.length, departed.queueing, now);
    }
    uplink.queue.delivered(departed.length);
    next_.receive(std::move(departed.packet), now);
  };
  uplink.queue.serve(carried, now, depart, [&](const packet::Packet& gone, Bytes length) {
    drop(index, gone, length, DropReason::early, now);
  });
  if (!uplink.queue.empty()) wake(index, tti + 1);
}

}  // namespace sluice::emulator

// Implements WlanCell: an 802.11 cell in which each packet takes the air for a computed time. The network calls
// receive() for downlink packets and uplink() for packets of the mobiles; the event loop ends each transmission. At
// most one packet is on the air. When it ends, the next sender is drawn evenly among stations with packets (Pilosof et
// al., INFOCOM 2003).

#include "emulator/cell/wlan_cell.hpp"

#include <stdexcept>
#include <utility>

#include "dataplane/packet/parse.hpp"
#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {
namespace {

constexpr std::int64_t mac_and_llc = 36;      // bytes: MAC header 24, FCS 4, LLC and SNAP 8
constexpr std::int64_t acknowledgement = 14;  ///< bytes of an 802.11 ACK frame
constexpr Bytes full_packet{1500};

const WlanParameters& checked(const WlanParameters& p) {
  if (!(p.rate_bps > 0) || !(p.control_rate_bps > 0)) throw std::invalid_argument("802.11: rates must be above 0");
  return p;
}

Duration on_air(std::int64_t bytes, double rate_bps) {
  return from_seconds(static_cast<double>(bytes) * 8 / rate_bps);
}

/// True for a TCP segment without payload.
bool is_ack(const packet::Packet& packet) {
  packet::Parsed parsed;
  const packet::ParseResult read = packet::parse(packet, parsed);
  const bool tcp = read == packet::ParseResult::tcp || read == packet::ParseResult::tcp_options_unknown;
  return tcp && parsed.segment.payload_len == 0;
}

}  // namespace

Duration wlan_airtime(const WlanParameters& p, Bytes length) {
  const Duration contention = p.difs + p.slot * p.contention_window / 2;
  const Duration frame = p.preamble + on_air(length.count() + mac_and_llc, p.rate_bps);
  return contention + frame + p.sifs + p.preamble + on_air(acknowledgement, p.control_rate_bps);
}

WlanCell::WlanCell(EventLoop& loop, const WlanParameters& parameters, Random random, Element& to_ues, Element& to_core)
    : loop_(loop), parameters_(checked(parameters)), random_(random), to_ues_(to_ues), to_core_(to_core) {}

UeIndex WlanCell::add_ue(const IpAddress& address) {
  const auto index = static_cast<UeIndex>(addresses_.size());
  add_address(index, address);
  addresses_.push_back(address);
  stations_.emplace_back();
  downlink_.emplace_back();
  return index;
}

void WlanCell::add_address(UeIndex ue, const IpAddress& address) {
  if (!by_address_.emplace(address, ue).second) {
    throw std::invalid_argument("802.11: two mobiles with the address " + address.to_string());
  }
}

void WlanCell::queue(std::size_t station, std::uint32_t limit, Waiting waiting, Instant now) {
  Station& sender = stations_[station];
  if (limit > 0 && sender.queue.size() >= limit) {
    sender.dropped.add(waiting.ack);
    if (station == 0 && observer_ != nullptr) {
      observer_->on_drop(waiting.ue, waiting.packet, waiting.length, DropReason::full, now);
    }
    return;
  }
  if (station == 0) backlog_ += waiting.length;
  sender.queue.push(std::move(waiting));
  if (!busy_) begin(now);
}

void WlanCell::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const auto at = header ? by_address_.find(header->destination) : by_address_.end();
  if (at == by_address_.end()) {
    to_ues_.receive(std::move(packet), now);
    return;
  }
  const UeIndex ue = at->second;
  UeSnapshot& mobile = downlink_[ue];
  mobile.arrived_bytes += static_cast<std::uint64_t>(header->length.count());
  if (parameters_.buffer == 0 || stations_[0].queue.size() < parameters_.buffer) {
    mobile.queued += header->length;
  } else {
    mobile.dropped_bytes += static_cast<std::uint64_t>(header->length.count());
    ++mobile.dropped_packets;
  }
  const bool ack = is_ack(packet);
  queue(0, parameters_.buffer, {std::move(packet), now, ue, header->length, ack}, now);
}

void WlanCell::receive_uplink(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const auto at = header ? by_address_.find(header->source) : by_address_.end();
  if (at == by_address_.end()) {
    to_core_.receive(std::move(packet), now);
    return;
  }
  const UeIndex ue = at->second;
  const bool ack = is_ack(packet);
  queue(ue + std::size_t{1}, parameters_.station_buffer, {std::move(packet), now, ue, header->length, ack}, now);
}

void WlanCell::begin(Instant now) {
  std::uint64_t contenders = 0;
  for (const Station& station : stations_) contenders += station.queue.empty() ? 0U : 1U;
  if (contenders == 0) return;
  std::uint64_t turn = random_.below(contenders);
  for (sender_ = 0;; ++sender_) {
    if (!stations_[sender_].queue.empty() && turn-- == 0) break;
  }
  on_air_ = stations_[sender_].queue.pop();
  busy_ = true;
  began_ = now;
  loop_.at(now + wlan_airtime(parameters_, on_air_.length), *this);
}

void WlanCell::on_event(std::uint64_t /*tag*/, Instant now) {
  busy_ = false;
  busy_time_ += now - began_;
  finish(now);
  if (!busy_) begin(now);
}

void WlanCell::finish(Instant now) {
  Waiting sent = std::move(on_air_);
  stations_[sender_].sent.add(sent.ack);
  if (sender_ > 0) {
    to_core_.receive(std::move(sent.packet), now);
    return;
  }
  backlog_ -= sent.length;
  UeSnapshot& mobile = downlink_[sent.ue];
  mobile.queued -= sent.length;
  mobile.transmitted_bytes += static_cast<std::uint64_t>(sent.length.count());
  mobile.delivered_bytes = mobile.transmitted_bytes;
  mobile.use.carried = mobile.transmitted_bytes;
  if (observer_ != nullptr) observer_->on_departure(sent.ue, sent.packet, sent.length, now - sent.since, now);
  to_ues_.receive(std::move(sent.packet), now);
}

Backlog WlanCell::backlog() const {
  Backlog shared;
  shared.add(backlog_, static_cast<double>(stations_[0].queue.size()), false);
  return shared;
}

UeSnapshot WlanCell::snapshot(UeIndex ue, Instant now) {
  UeSnapshot snapshot = downlink_[ue];
  snapshot.use.offered = use(now).offered;
  return snapshot;
}

LinkUse WlanCell::use(Instant now) {
  const Duration busy = busy_time_ + (busy_ ? now - began_ : Duration::zero());
  const double bytes_per_second =
      static_cast<double>(full_packet.count()) / to_seconds(wlan_airtime(parameters_, full_packet));
  LinkUse use;
  use.offered = static_cast<std::uint64_t>(to_seconds(now.time_since_epoch()) * bytes_per_second);
  use.carried = static_cast<std::uint64_t>(to_seconds(busy) * bytes_per_second);
  return use;
}

}  // namespace sluice::emulator

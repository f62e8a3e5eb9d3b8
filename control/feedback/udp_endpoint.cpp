// UDP transport of the feedback protocol. Used by the proxy and by the Node-B emulator, each with its
// Session. Runs on the thread of its io_context. No error of the network ends it. Datagrams are sent only to configured
// peers and to addresses that an authenticated sender may teach.

#include "control/feedback/udp_endpoint.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::control::feedback {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;

/// Returns the peer's endpoint in the form in which a socket of the local address family can send to it: an IPv6 socket
/// needs an IPv4-mapped address for an IPv4 peer.
udp::endpoint reachable_from(const udp::endpoint& local, const udp::endpoint& peer) {
  if (local.address().is_v4() == peer.address().is_v4()) return peer;
  if (local.address().is_v4()) {
    throw std::invalid_argument("feedback: an IPv4 socket cannot send to " + peer.address().to_string());
  }
  return {asio::ip::make_address_v6(asio::ip::v4_mapped, peer.address().to_v4()), peer.port()};
}

IpAddress address_of(const udp::endpoint& endpoint) {
  IpAddress address;
  if (endpoint.address().is_v4()) {
    const auto octets = endpoint.address().to_v4().to_bytes();
    return IpAddress::v4(octets[0], octets[1], octets[2], octets[3]);
  }
  const auto octets = endpoint.address().to_v6().to_bytes();  // an IPv4-mapped address is the IPv4 address
  std::copy(octets.begin(), octets.end(), address.octets.begin());
  return address;
}

}  // namespace

UdpEndpoint::UdpEndpoint(asio::io_context& context, UdpEndpointConfig config, Session& session, RecordHandler& handler)
    : config_(std::move(config)),
      session_(session),
      handler_(handler),
      socket_(context, config_.local, largest_datagram, config_.datagrams_per_wakeup,
              [this](std::span<const std::uint8_t> datagram, const udp::endpoint& from) { receive(datagram, from); }) {
  if (!config_.clock) throw std::invalid_argument("feedback: a clock is needed");
  for (udp::endpoint& peer : config_.peers) peer = reachable_from(config_.local, peer);
}

/// Processes a datagram. If it is accepted, its source address `from` becomes a learned destination, provided that the
/// configuration permits this address for the datagram's key (LearnFrom).
void UdpEndpoint::receive(std::span<const std::uint8_t> datagram, const udp::endpoint& from) {
  Header header;
  const ReceivedAt at = config_.clock();
  if (session_.receive(datagram, handler_, at, header) != Failure::none) return;
  learn(header.key_id, from, at.now);
  record_place(header.sender, from);
}

/// True if `place` (an address and port) is a configured or learned destination, to which messages are sent.
bool UdpEndpoint::is_sent_to(const udp::endpoint& place) const {
  return learned_.contains(place) ||
         std::find(config_.peers.begin(), config_.peers.end(), place) != config_.peers.end();
}

/// Records the address from which a sender's datagram came, if that address is a destination. Otherwise the sender's
/// earlier address is kept.
void UdpEndpoint::record_place(std::uint64_t sender, const udp::endpoint& from) {
  if (!is_sent_to(from)) return;
  if (places_.size() >= max_places && !places_.contains(sender)) {
    std::erase_if(places_, [this](const auto& place) { return !is_sent_to(place.second); });
    if (places_.size() >= max_places) return;
  }
  places_[sender] = from;
}

/// Adds `from`, the address of an authenticated sender, to the learned destinations if the configuration permits it for
/// the sender's `key` (LearnFrom). If the address is known, extends its validity.
void UdpEndpoint::learn(std::uint32_t key, const udp::endpoint& from, Instant now) {
  if (config_.learn.empty() || std::find(config_.peers.begin(), config_.peers.end(), from) != config_.peers.end())
    return;
  if (const auto known = learned_.find(from); known != learned_.end()) {
    known->second = now;
  } else if (!may_learn(key, from)) {
    ++not_answered_;
  } else {
    forget_silent(now);
    if (learned_.size() < config_.most_learned) {
      learned_.emplace(from, now);
    } else {
      ++no_room_to_learn_;
    }
  }
}

/// True if messages may be sent to the address `from` of a sender that uses this key.
bool UdpEndpoint::may_learn(std::uint32_t key, const udp::endpoint& from) const {
  const IpAddress address = address_of(from);
  return std::any_of(config_.learn.begin(), config_.learn.end(), [&](const LearnFrom& learn) {
    return learn.key == key && std::any_of(learn.addresses.begin(), learn.addresses.end(),
                                           [&](const IpPrefix& prefix) { return prefix.contains(address); });
  });
}

/// Removes learned destinations from which no datagram was received within `learned_for`.
void UdpEndpoint::forget_silent(Instant now) {
  std::erase_if(learned_, [now](const auto& place) { return now - place.second >= learned_for; });
}

std::uint64_t UdpEndpoint::send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll,
                                        Duration refresh) {
  forget_silent(config_.clock().now);
  return session_.send_reports(reports, now, period, poll, *this, refresh);
}

std::uint64_t UdpEndpoint::send_reports_to(std::uint64_t sender, std::span<const BearerReport> reports, Duration now,
                                           Duration period, Duration refresh) {
  forget_silent(config_.clock().now);
  if (const auto place = places_.find(sender); place != places_.end() && is_sent_to(place->second)) {
    only_ = place->second;
  }
  const std::uint64_t sequence = session_.send_reports(reports, now, period, false, *this, refresh);
  only_.reset();
  return sequence;
}

std::uint64_t UdpEndpoint::send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period,
                                         bool poll) {
  forget_silent(config_.clock().now);
  return session_.send_statuses(statuses, now, period, poll, *this);
}

void UdpEndpoint::send(std::span<const std::uint8_t> datagram) {
  if (only_) return socket_.send_to(datagram, *only_);
  for (const udp::endpoint& peer : config_.peers) socket_.send_to(datagram, peer);
  for (const auto& [peer, last_rx] : learned_) socket_.send_to(datagram, peer);
}

std::vector<udp::endpoint> UdpEndpoint::destinations() const {
  std::vector<udp::endpoint> all = config_.peers;
  for (const auto& [peer, last_rx] : learned_) all.push_back(peer);
  return all;
}

}  // namespace sluice::control::feedback

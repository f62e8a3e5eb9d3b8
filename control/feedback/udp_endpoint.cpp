// UDP transport of the feedback protocol with Boost.Asio. Used by the proxy and by the Node-B emulator, each with its
// Session. Runs on the thread of its io_context. No error of the network ends it. Datagrams are sent only to configured
// peers and to addresses that an authenticated sender may teach.

#include "control/feedback/udp_endpoint.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace sluice::control::feedback {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;

/// Pause after a failed wait for the socket, so that a persistent error causes no busy loop.
constexpr auto pause_after_error = std::chrono::milliseconds(100);

/// Returns the peer's endpoint in the form that a socket of this address family can send to.
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
    : config_(std::move(config)), session_(session), handler_(handler), socket_(context), pause_(context) {
  if (config_.datagrams_per_wakeup == 0) throw std::invalid_argument("feedback: datagrams per wakeup must be positive");
  if (!config_.clock) throw std::invalid_argument("feedback: a clock is needed");
  for (udp::endpoint& peer : config_.peers) peer = reachable_from(config_.local, peer);
  socket_.open(config_.local.protocol());
  // One socket on :: serves both families, whatever the system's default is.
  if (config_.local.address().is_v6()) socket_.set_option(asio::ip::v6_only(false));
  socket_.non_blocking(true);
  socket_.bind(config_.local);
}

UdpEndpoint::~UdpEndpoint() {
  stop();
}

void UdpEndpoint::start() {
  if (running_) return;
  running_ = true;
  wait();
}

void UdpEndpoint::stop() {
  running_ = false;
  alive_ = std::make_shared<bool>(true);  // handlers in the queue become ineffective
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  pause_.cancel();
}

/// Waits asynchronously until the socket is readable, then receives.
void UdpEndpoint::wait() {
  socket_.async_wait(udp::socket::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (alive.expired()) return;
                       if (error) {
                         ++counters_.receive_errors;
                         counters_.last_error = error.value();
                         return rest();
                       }
                       drain();
                       if (!alive.expired()) wait();
                     });
}

/// Pauses after an error, then waits for the socket again.
void UdpEndpoint::rest() {
  pause_.expires_after(pause_after_error);
  pause_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code&) {
    if (!alive.expired()) wait();
  });
}

/// Receives datagrams up to the limit per wake-up. If more are queued, the next wait ends at once, after other handlers
/// have run.
void UdpEndpoint::drain() {
  for (std::size_t i = 0; i < config_.datagrams_per_wakeup && running_; ++i) {
    if (!receive_one()) return;
  }
}

/// Receives and processes one datagram; returns false if none is queued.
bool UdpEndpoint::receive_one() {
  udp::endpoint from;
  boost::system::error_code error;
  const std::size_t size = socket_.receive_from(asio::buffer(buffer_), from, 0, error);
  if (error == asio::error::would_block || error == asio::error::try_again) return false;
  if (error) {
    // ICMP reports a peer that is down; the next datagram may be valid.
    ++counters_.receive_errors;
    counters_.last_error = error.value();
    return true;
  }
  ++counters_.datagrams_received;
  Header header;
  const ReceivedAt at = config_.clock();
  if (session_.receive(std::span(buffer_).first(size), handler_, at, header) == Failure::none) {
    learn(header.key_id, from, at.now);
    record_place(header.sender, from);
  }
  return true;
}

/// True if messages are sent to this address, because it is a configured or learned destination.
bool UdpEndpoint::is_sent_to(const udp::endpoint& place) const {
  return learned_.contains(place) ||
         std::find(config_.peers.begin(), config_.peers.end(), place) != config_.peers.end();
}

/// Records the address from which a sender was received, if the address is a destination. Otherwise the sender keeps
/// its earlier address.
void UdpEndpoint::record_place(std::uint64_t sender, const udp::endpoint& from) {
  if (!is_sent_to(from)) return;
  if (places_.size() >= max_places && !places_.contains(sender)) {
    std::erase_if(places_, [this](const auto& place) { return !is_sent_to(place.second); });
    if (places_.size() >= max_places) return;
  }
  places_[sender] = from;
}

/// Adds the address of an authenticated sender to the learned destinations if its key permits that. Refreshes one
/// already learned.
void UdpEndpoint::learn(std::uint32_t key, const udp::endpoint& from, Instant now) {
  if (config_.learn.empty() || std::find(config_.peers.begin(), config_.peers.end(), from) != config_.peers.end())
    return;
  if (const auto known = learned_.find(from); known != learned_.end()) {
    known->second = now;
  } else if (!may_learn(key, from)) {
    ++counters_.not_answered;
  } else {
    forget_silent(now);
    if (learned_.size() < config_.most_learned) {
      learned_.emplace(from, now);
    } else {
      ++counters_.no_room_to_learn;
    }
  }
}

/// True if a sender that uses this key may be answered at the address `from`.
bool UdpEndpoint::may_learn(std::uint32_t key, const udp::endpoint& from) const {
  const IpAddress address = address_of(from);
  return std::any_of(config_.learn.begin(), config_.learn.end(), [&](const LearnFrom& learn) {
    return learn.key == key && std::any_of(learn.addresses.begin(), learn.addresses.end(),
                                           [&](const IpPrefix& prefix) { return prefix.contains(address); });
  });
}

/// Removes learned destinations from which no datagram was received recently.
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
  if (only_) return send_to(datagram, *only_);
  for (const udp::endpoint& peer : config_.peers) send_to(datagram, peer);
  for (const auto& [peer, last_rx] : learned_) send_to(datagram, peer);
}

void UdpEndpoint::send_to(std::span<const std::uint8_t> datagram, const udp::endpoint& peer) {
  boost::system::error_code error;
  socket_.send_to(asio::buffer(datagram.data(), datagram.size()), peer, 0, error);
  if (error) {
    ++counters_.send_errors;
    counters_.last_error = error.value();
    return;
  }
  ++counters_.datagrams_sent;
}

udp::endpoint UdpEndpoint::local() const {
  return socket_.local_endpoint();
}

std::vector<udp::endpoint> UdpEndpoint::destinations() const {
  std::vector<udp::endpoint> all = config_.peers;
  for (const auto& [peer, last_rx] : learned_) all.push_back(peer);
  return all;
}

}  // namespace sluice::control::feedback

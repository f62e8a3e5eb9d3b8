#include "proxy/config/feedback_session.hpp"

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <utility>

namespace sluice::config {
namespace {

namespace feedback = control::feedback;
using boost::asio::ip::udp;

udp::endpoint endpoint_of(const SocketAddress& address) {
  const auto& octets = address.address.octets;
  if (address.address.is_v4()) {
    boost::asio::ip::address_v4::bytes_type bytes{};
    std::copy(octets.begin() + 12, octets.end(), bytes.begin());
    return {boost::asio::ip::address_v4(bytes), address.port};
  }
  boost::asio::ip::address_v6::bytes_type bytes{};
  std::copy(octets.begin(), octets.end(), bytes.begin());
  return {boost::asio::ip::address_v6(bytes), address.port};
}

}  // namespace

feedback::SessionConfig session_config(const FeedbackConfig& config, feedback::Role role, std::uint64_t wall_clock_ns,
                                       const feedback::SessionId& session_id) {
  feedback::SessionConfig session;
  session.role = role;
  session.sender = config.sender;
  session.epoch = config.session_epoch(wall_clock_ns);
  session.keys = config.session_keys();
  session.send_key = config.session_send_key();
  session.session_id = session_id;
  session.features = {true, true};
  session.max_datagram = static_cast<std::size_t>(config.max_datagram.count());
  return session;
}

feedback::UdpEndpointConfig endpoint_config(const FeedbackConfig& config, std::function<feedback::ReceivedAt()> clock) {
  feedback::UdpEndpointConfig endpoint;
  endpoint.local = endpoint_of(config.listen);
  for (const SocketAddress& peer : config.peers) endpoint.peers.push_back(endpoint_of(peer));
  endpoint.most_learned = config.most_learned;
  endpoint.clock = std::move(clock);
  if (!config.learn_peers) return endpoint;
  for (const KeyConfig& key : config.keys) endpoint.learn.push_back({key.id, key.learn_from});
  return endpoint;
}

}  // namespace sluice::config

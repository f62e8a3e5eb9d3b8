#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_socket.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::control::feedback {

/// Permission to send messages to the source addresses of datagrams that authenticate with one key. Only the listed
/// addresses are permitted.
struct LearnFrom {
  std::uint32_t key = 0;            ///< id of the key that the sender uses
  std::vector<IpPrefix> addresses;  ///< addresses to which messages may be sent; empty permits none
};

struct UdpEndpointConfig {
  boost::asio::ip::udp::endpoint local;               ///< address and port to bind; port 0 = any
  std::vector<boost::asio::ip::udp::endpoint> peers;  ///< configured destinations, to which every message is sent
  /// Permissions, by key and address, under which source addresses of datagrams become destinations.
  std::vector<LearnFrom> learn;
  std::size_t most_learned = 64;  ///< largest number of learned destinations at one time

  /// datagrams received per wake-up before other handlers of the io_context run, ≥ 1
  std::size_t datagrams_per_wakeup = 64;
  /// Returns the present time; called for each datagram received.
  std::function<ReceivedAt()> clock;
};

/// Counters of socket events and learned destinations; invalid datagrams are counted by the session.
struct UdpCounters : SocketCounters {
  /// Number of accepted datagrams whose source address may not become a destination, because the configuration does not
  /// permit this address for the datagram's key (LearnFrom).
  std::uint64_t not_answered = 0;
  /// Number of accepted datagrams whose source address did not become a destination, because `most_learned` addresses
  /// are learned already.
  std::uint64_t no_room_to_learn = 0;
};

/// One side of the feedback protocol on a UDP socket, IPv4 or IPv6. No network error stops it. Runs on the thread of
/// the given io_context; every method is called there.
///
/// The source address of an accepted datagram becomes a learned destination if the configuration permits it for the
/// datagram's key (LearnFrom). It remains one until `learned_for` after its last datagram. Each message is sent once to
/// each destination, even if several senders use that address. This limits the traffic and the destinations that a
/// holder of a key can cause.
class UdpEndpoint final : private DatagramSink {
 public:
  /// Largest number of senders whose address is recorded; messages to other senders go to all destinations.
  static constexpr std::size_t max_places = 1024;
  /// Time for which a learned destination is used after its last datagram.
  static constexpr Duration learned_for = ReplayGuard::active_for;

  /// Binds the socket. Throws boost::system::system_error if that fails. All arguments must outlive the endpoint.
  UdpEndpoint(boost::asio::io_context& context, UdpEndpointConfig config, Session& session, RecordHandler& handler);

  /// Starts receiving. stop() ends it; handlers that are still queued in the io_context then do nothing.
  void start() { socket_.start(); }
  void stop() { socket_.stop(); }

  /// Sends reports to all destinations. `now` is the time on this side's monotonic clock. The other arguments and the
  /// return value are those of Session::send_reports().
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll = false,
                             Duration refresh = {});
  /// Sends reports only to the address from which the proxy with the sender id `sender` last sent, if that is a
  /// destination. Otherwise sends them to all destinations. The other arguments and the return value are those of
  /// Session::send_reports().
  std::uint64_t send_reports_to(std::uint64_t sender, std::span<const BearerReport> reports, Duration now,
                                Duration period, Duration refresh = {});
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll = false);

  /// Returns the address and port to which the socket is bound.
  [[nodiscard]] boost::asio::ip::udp::endpoint local() const { return socket_.local(); }
  /// Returns all current destinations. The result may include learned destinations that expire before the next message.
  [[nodiscard]] std::vector<boost::asio::ip::udp::endpoint> destinations() const;
  /// Returns the number of current destinations, configured and learned.
  [[nodiscard]] std::size_t destination_count() const { return config_.peers.size() + learned_.size(); }
  /// True if messages may go to several destinations: several peers are configured, or addresses are learned.
  [[nodiscard]] bool may_have_several() const { return config_.peers.size() > 1 || !config_.learn.empty(); }
  [[nodiscard]] UdpCounters counters() const { return {socket_.counters(), not_answered_, no_room_to_learn_}; }

 private:
  void send(std::span<const std::uint8_t> datagram) override;
  void receive(std::span<const std::uint8_t> datagram, const boost::asio::ip::udp::endpoint& from);
  void learn(std::uint32_t key, const boost::asio::ip::udp::endpoint& from, Instant now);
  void record_place(std::uint64_t sender, const boost::asio::ip::udp::endpoint& from);
  [[nodiscard]] bool is_sent_to(const boost::asio::ip::udp::endpoint& place) const;
  [[nodiscard]] bool may_learn(std::uint32_t key, const boost::asio::ip::udp::endpoint& from) const;
  void forget_silent(Instant now);

  UdpEndpointConfig config_;
  Session& session_;
  RecordHandler& handler_;
  UdpSocket socket_;

  /// learned destinations, with the time of the last datagram from each
  std::map<boost::asio::ip::udp::endpoint, Instant> learned_;

  /// address from which the last datagram of each sender came, by sender id
  std::map<std::uint64_t, boost::asio::ip::udp::endpoint> places_;

  /// destination of the message being sent, if it goes to a single destination
  std::optional<boost::asio::ip::udp::endpoint> only_;
  std::uint64_t not_answered_ = 0;
  std::uint64_t no_room_to_learn_ = 0;
};

}  // namespace sluice::control::feedback

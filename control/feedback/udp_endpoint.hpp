#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"

namespace sluice::control::feedback {

struct UdpEndpointConfig {
  boost::asio::ip::udp::endpoint local;               ///< address and port to bind; port 0 = any
  std::vector<boost::asio::ip::udp::endpoint> peers;  ///< who is sent to, always
  bool learn_peers = false;               ///< also send to where each authenticated sender was last heard from
  std::size_t datagrams_per_wakeup = 64;  ///< work done before other handlers of the context get their turn, ≥ 1
};

/// What happened on the socket; what was wrong inside datagrams is counted by the session.
struct UdpCounters {
  std::uint64_t datagrams_received = 0;
  std::uint64_t datagrams_sent = 0;
  std::uint64_t receive_errors = 0;
  std::uint64_t send_errors = 0;  ///< e.g. the peer is down, the socket's buffer is full
  int last_error = 0;             ///< errno of the newest error
};

/// One side of the protocol on a UDP socket, IPv4 or IPv6. No error of the network ends it. Runs on the thread of the
/// given io_context; every method is called there.
class UdpEndpoint final : private DatagramSink {
 public:
  /// Binds. Throws boost::system::system_error when that fails. Everything given must outlive the endpoint.
  UdpEndpoint(boost::asio::io_context& context, UdpEndpointConfig config, Session& session, RecordHandler& handler);
  ~UdpEndpoint();
  UdpEndpoint(const UdpEndpoint&) = delete;
  UdpEndpoint& operator=(const UdpEndpoint&) = delete;

  /// Begins to receive. stop() ends it; handlers that are queued do nothing afterwards.
  void start();
  void stop();

  /// `now`: this side's monotonic clock. Returns the sequence number of the last datagram.
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll = false);
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll = false);

  /// Where it is bound, with the port that was chosen.
  [[nodiscard]] boost::asio::ip::udp::endpoint local() const;
  /// Everyone a message goes to now.
  [[nodiscard]] std::vector<boost::asio::ip::udp::endpoint> destinations() const;
  [[nodiscard]] const UdpCounters& counters() const { return counters_; }

 private:
  void send(std::span<const std::uint8_t> datagram) override;
  void send_to(std::span<const std::uint8_t> datagram, const boost::asio::ip::udp::endpoint& peer);
  void wait();
  void drain();
  void rest();
  bool receive_one();
  void learn(std::uint64_t sender, const boost::asio::ip::udp::endpoint& from);

  UdpEndpointConfig config_;
  Session& session_;
  RecordHandler& handler_;
  boost::asio::ip::udp::socket socket_;
  boost::asio::steady_timer pause_;
  std::map<std::uint64_t, boost::asio::ip::udp::endpoint> learned_;  ///< by sender id; bounded by the session's senders
  std::array<std::uint8_t, 2048> buffer_{};
  UdpCounters counters_;
  bool running_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< handlers that outlive the endpoint see it gone
};

}  // namespace sluice::control::feedback

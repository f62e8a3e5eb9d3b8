#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::control::feedback {

/// Where senders that sign with a key may be answered.
struct LearnFrom {
  std::uint32_t key = 0;            ///< id
  std::vector<IpPrefix> addresses;  ///< none: nowhere
};

struct UdpEndpointConfig {
  boost::asio::ip::udp::endpoint local;               ///< address and port to bind; port 0 = any
  std::vector<boost::asio::ip::udp::endpoint> peers;  ///< who is sent to, always
  std::vector<LearnFrom> learn;   ///< also send to where authenticated senders are heard, if that is one of these
  std::size_t most_learned = 64;  ///< … but to so many places at most
  std::size_t datagrams_per_wakeup = 64;  ///< work done before other handlers of the context get their turn, ≥ 1
  /// When it is: for every datagram received.
  std::function<ReceivedAt()> clock;
};

/// What happened on the socket; what was wrong inside datagrams is counted by the session.
struct UdpCounters {
  std::uint64_t datagrams_received = 0;
  std::uint64_t datagrams_sent = 0;
  std::uint64_t receive_errors = 0;
  std::uint64_t send_errors = 0;       ///< e.g. the peer is down, the socket's buffer is full
  std::uint64_t not_answered = 0;      ///< accepted datagrams from where their key is not answered
  std::uint64_t no_room_to_learn = 0;  ///< … and from one place more than may be learned
  int last_error = 0;                  ///< errno of the newest error
};

/// One side of the protocol on a UDP socket, IPv4 or IPv6. No error of the network ends it. Runs on the thread of the
/// given io_context; every method is called there.
///
/// A place that is learned is sent to for as long as somebody is heard there (`learned_for` longer), and once however
/// many senders speak there: what a holder of the key can have sent, and to whom, is bounded.
class UdpEndpoint final : private DatagramSink {
 public:
  /// Senders whose place is known, at most; what is for others goes to all.
  static constexpr std::size_t most_places = 1024;
  /// How long a place is sent to after something was heard there.
  static constexpr Duration learned_for = ReplayGuard::speaking;

  /// Binds. Throws boost::system::system_error when that fails. Everything given must outlive the endpoint.
  UdpEndpoint(boost::asio::io_context& context, UdpEndpointConfig config, Session& session, RecordHandler& handler);
  ~UdpEndpoint();
  UdpEndpoint(const UdpEndpoint&) = delete;
  UdpEndpoint& operator=(const UdpEndpoint&) = delete;

  /// Begins to receive. stop() ends it; handlers that are queued do nothing afterwards.
  void start();
  void stop();

  /// `now`: this side's monotonic clock. Returns the sequence number of the last datagram.
  /// `refresh`: see Session::send_reports().
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll = false,
                             Duration refresh = {});
  /// The same, only to where this sender was last heard of the places that are sent to; to all where that is none.
  std::uint64_t send_reports_to(std::uint64_t sender, std::span<const BearerReport> reports, Duration now,
                                Duration period, Duration refresh = {});
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll = false);

  /// Where it is bound, with the port that was chosen.
  [[nodiscard]] boost::asio::ip::udp::endpoint local() const;
  /// Everyone a message goes to now, but for those that have become silent since the last one.
  [[nodiscard]] std::vector<boost::asio::ip::udp::endpoint> destinations() const;
  /// How many these are.
  [[nodiscard]] std::size_t destination_count() const { return config_.peers.size() + learned_.size(); }
  /// Whether there may ever be more than one of them.
  [[nodiscard]] bool may_have_several() const { return config_.peers.size() > 1 || !config_.learn.empty(); }
  [[nodiscard]] const UdpCounters& counters() const { return counters_; }

 private:
  void send(std::span<const std::uint8_t> datagram) override;
  void send_to(std::span<const std::uint8_t> datagram, const boost::asio::ip::udp::endpoint& peer);
  void wait();
  void drain();
  void rest();
  bool receive_one();
  void learn(std::uint32_t key, const boost::asio::ip::udp::endpoint& from, Instant now);
  void note_place(std::uint64_t sender, const boost::asio::ip::udp::endpoint& from);
  [[nodiscard]] bool is_sent_to(const boost::asio::ip::udp::endpoint& place) const;
  [[nodiscard]] bool may_learn(std::uint32_t key, const boost::asio::ip::udp::endpoint& from) const;
  void forget_silent(Instant now);

  UdpEndpointConfig config_;
  Session& session_;
  RecordHandler& handler_;
  boost::asio::ip::udp::socket socket_;
  boost::asio::steady_timer pause_;
  std::map<boost::asio::ip::udp::endpoint, Instant> learned_;       ///< when something was last heard there
  std::map<std::uint64_t, boost::asio::ip::udp::endpoint> places_;  ///< of senders, where they are sent to
  std::optional<boost::asio::ip::udp::endpoint> only_;              ///< of what is sent now
  std::array<std::uint8_t, largest_datagram + 1> buffer_{};         ///< one more byte tells what is too long
  UdpCounters counters_;
  bool running_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< handlers that outlive the endpoint see it gone
};

}  // namespace sluice::control::feedback

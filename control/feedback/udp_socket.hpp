#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sluice::control::feedback {

/// Counters of socket events.
struct SocketCounters {
  std::uint64_t datagrams_received = 0;
  std::uint64_t datagrams_sent = 0;
  std::uint64_t receive_errors = 0;

  /// failed send calls, for example because the peer is down or the socket's buffer is full
  std::uint64_t send_errors = 0;
  int last_error = 0;  ///< errno of the newest failed call
};

/// UDP socket of a source of reports, IPv4 or IPv6. No network error stops it. Runs on the thread of the given
/// io_context; every method is called there.
class UdpSocket {
 public:
  /// Function that processes a datagram received from the address `from`. At most `largest` + 1 bytes are passed. If
  /// more than `largest` bytes are passed, the datagram was too long and may be truncated.
  using Handler =
      std::function<void(std::span<const std::uint8_t> datagram, const boost::asio::ip::udp::endpoint& from)>;

  /// Binds the socket to `local`; port 0 means any free port. `largest` is the length in bytes of the longest valid
  /// datagram. At most `per_wakeup` datagrams, at least 1, are received before other handlers of the io_context run.
  /// Throws boost::system::system_error if binding fails.
  UdpSocket(boost::asio::io_context& context, const boost::asio::ip::udp::endpoint& local, std::size_t largest,
            std::size_t per_wakeup, Handler handler);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  /// Starts receiving. stop() ends it; handlers that are still queued in the io_context then do nothing.
  void start();
  void stop();
  void send_to(std::span<const std::uint8_t> datagram, const boost::asio::ip::udp::endpoint& peer);

  /// Returns the address and port to which the socket is bound.
  [[nodiscard]] boost::asio::ip::udp::endpoint local() const;
  [[nodiscard]] const SocketCounters& counters() const { return counters_; }

 private:
  void wait();
  void drain();
  void rest();
  bool receive_one();
  void count(std::uint64_t& errors, int error);

  boost::asio::ip::udp::socket socket_;
  boost::asio::steady_timer pause_;
  std::size_t per_wakeup_;
  Handler handler_;
  std::vector<std::uint8_t> buffer_;  ///< receive buffer; its last byte is used only by datagrams that are too long
  SocketCounters counters_;
  bool running_ = false;

  /// object to which handlers queued in the io_context hold weak references; once it is destroyed they do nothing
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sluice::control::feedback

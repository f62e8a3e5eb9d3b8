// UDP socket with Boost.Asio for sources of reports. UdpEndpoint uses it for the feedback protocol. Runs on the thread
// of its io_context. No error of the network ends it, and a persistent error causes no busy loop.

#include "control/feedback/udp_socket.hpp"

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

}  // namespace

UdpSocket::UdpSocket(asio::io_context& context, const udp::endpoint& local, std::size_t largest, std::size_t per_wakeup,
                     Handler handler)
    : socket_(context), pause_(context), per_wakeup_(per_wakeup), handler_(std::move(handler)), buffer_(largest + 1) {
  if (per_wakeup == 0) throw std::invalid_argument("feedback: datagrams per wakeup must be positive");
  socket_.open(local.protocol());
  // One socket on :: serves both families, whatever the system's default is.
  if (local.address().is_v6()) socket_.set_option(asio::ip::v6_only(false));
  socket_.non_blocking(true);
  socket_.bind(local);
}

UdpSocket::~UdpSocket() {
  stop();
}

void UdpSocket::start() {
  if (running_) return;
  running_ = true;
  wait();
}

void UdpSocket::stop() {
  running_ = false;
  alive_ = std::make_shared<bool>(true);  // handlers in the queue become ineffective
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  pause_.cancel();
}

void UdpSocket::count(std::uint64_t& errors, int error) {
  ++errors;
  counters_.last_error = error;
}

/// Waits asynchronously until the socket is readable, then receives.
void UdpSocket::wait() {
  socket_.async_wait(udp::socket::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (alive.expired()) return;
                       if (error) {
                         count(counters_.receive_errors, error.value());
                         return rest();
                       }
                       drain();
                       if (!alive.expired()) wait();
                     });
}

/// Pauses after an error, then waits for the socket again.
void UdpSocket::rest() {
  pause_.expires_after(pause_after_error);
  pause_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code&) {
    if (!alive.expired()) wait();
  });
}

/// Receives datagrams up to the limit per wake-up. If more are queued, the next wait ends at once, after other handlers
/// have run.
void UdpSocket::drain() {
  for (std::size_t i = 0; i < per_wakeup_ && running_; ++i) {
    if (!receive_one()) return;
  }
}

/// Receives and processes one datagram; returns false if none is queued.
bool UdpSocket::receive_one() {
  udp::endpoint from;
  boost::system::error_code error;
  const std::size_t size = socket_.receive_from(asio::buffer(buffer_), from, 0, error);
  if (error == asio::error::would_block || error == asio::error::try_again) return false;
  if (error) {
    // ICMP reports a peer that is down; the next datagram may be valid.
    count(counters_.receive_errors, error.value());
    return true;
  }
  ++counters_.datagrams_received;
  handler_(std::span(buffer_).first(size), from);
  return true;
}

void UdpSocket::send_to(std::span<const std::uint8_t> datagram, const udp::endpoint& peer) {
  boost::system::error_code error;
  socket_.send_to(asio::buffer(datagram.data(), datagram.size()), peer, 0, error);
  if (error) return count(counters_.send_errors, error.value());
  ++counters_.datagrams_sent;
}

udp::endpoint UdpSocket::local() const {
  return socket_.local_endpoint();
}

}  // namespace sluice::control::feedback

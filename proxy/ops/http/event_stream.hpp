#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace sluice::http {

/// Limits of the memory and time that clients of an event stream may use.
struct EventLimits {
  std::size_t clients = 8;
  /// maximum time for sending one event to a client, after which the client is disconnected
  std::chrono::milliseconds timeout{5'000};
  int send_buffer = 64 << 10;  ///< size in bytes of the kernel's send buffer for each client

  /// number of consecutive unread events of a client from which on a new client may replace it
  std::uint64_t unread = 4;
};

/// Sends server-sent events to several clients. An event is serialized only once. While an event is being sent to a
/// client, only the newest later event is stored for it. A slow client therefore costs the memory of two events and of
/// one kernel send buffer. A client that needs longer than EventLimits::timeout for an event is disconnected.
///
/// If the maximum number of clients is reached, a new client can replace one that has at least EventLimits::unread
/// unread events. An event counts as unread if the client has read nothing since, even if a newer event has replaced
/// it. A new client can also replace a client of another address if that address has more than half of the maximum
/// number of clients. Of these clients, the one with the most unread events is replaced. If there is none, the new
/// client is rejected. Thread: that of the io_context.
class EventStream {
 public:
  explicit EventStream(boost::asio::io_context& context, EventLimits limits = {})
      : context_(context), limits_(limits) {}
  /// Closes the connection of every client.
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  [[nodiscard]] bool empty() const { return clients_.empty(); }
  /// True if a client with this address would be accepted: there are fewer clients than the maximum, or one of them can
  /// be replaced.
  [[nodiscard]] bool can_accept(const boost::asio::ip::address& address) const;
  /// Adds a connection whose response is the stream of events. Closes the connection if the client cannot be accepted.
  void add(boost::asio::ip::tcp::socket socket);
  /// Sends an event that contains the text `data` to all clients. `data` must not contain line ends.
  void send(const std::string& data);

 private:
  class Client;
  using Clients = std::set<std::shared_ptr<Client>>;
  /// Returns the client to be replaced by a new client with this address, or end() if none may be replaced.
  [[nodiscard]] Clients::const_iterator replaceable_by(const boost::asio::ip::address& address) const;

  boost::asio::io_context& context_;
  EventLimits limits_;
  Clients clients_;
};

}  // namespace sluice::http

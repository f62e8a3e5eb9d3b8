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

/// Bounds on the memory and time that the clients of an event stream may use.
struct EventLimits {
  std::size_t clients = 8;
  std::chrono::milliseconds patience{5'000};  ///< maximum time for a client to receive an event
  int send_buffer = 64 << 10;                 ///< size in bytes of the kernel's send buffer for a client

  /// Number of consecutive unread events after which a new client may replace this client.
  std::uint64_t unread = 4;
};

/// Sends server-sent events to several clients. An event is serialised once and shared. While an event is being sent to
/// a client, only the newest of the later events waits. A client that needs longer than `patience` for an event is
/// closed. So a slow reader costs two events and one kernel buffer. If all places are taken, a new client replaces the
/// one with the most unread events, at least `unread`. Otherwise, if another address holds more than half of the
/// places, one client of that address is replaced. A client that reads, however slowly, is kept longer than others of
/// its address. Thread: that of the io_context.
class EventStream {
 public:
  explicit EventStream(boost::asio::io_context& context, EventLimits limits = {})
      : context_(context), limits_(limits) {}
  /// Closes the connection of every client.
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  [[nodiscard]] bool empty() const { return clients_.empty(); }
  /// True if a client with that address would be accepted: the number of clients is below the limit, or another client
  /// can be replaced.
  [[nodiscard]] bool has_place_for(const boost::asio::ip::address& address) const;
  /// Takes over a connection whose response is a stream of events. Closes the connection if its client cannot be
  /// accepted.
  void add(boost::asio::ip::tcp::socket socket);
  /// Sends an event with `data`, which contains no line ends, to all clients.
  void send(const std::string& data);

 private:
  class Client;
  using Clients = std::set<std::shared_ptr<Client>>;
  /// Returns the client that a new client with that address replaces, or end() if none may be replaced.
  [[nodiscard]] Clients::const_iterator victim_for(const boost::asio::ip::address& address) const;

  boost::asio::io_context& context_;
  EventLimits limits_;
  Clients clients_;
};

}  // namespace sluice::http

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

/// What watchers may take of the program's time and memory.
struct EventLimits {
  std::size_t clients = 8;
  std::chrono::milliseconds patience{5'000};  ///< for an event to be taken
  int send_buffer = 64 << 10;                 ///< bytes that the kernel keeps for a client
  /// Events in a row of which a client reads nothing before a further client may take its place.
  std::uint64_t unread = 4;
};

/// Server-sent events to several clients. An event is written once and shared. For a client that still takes an earlier
/// event only the newest waits, and one that takes an event for longer than `patience` is dropped: a slow reader costs
/// two events and one buffer of the kernel. When all places are taken, a further client gets that of the client which
/// has read nothing for the most events (`unread` of them at least), or else, where one address has more than half of
/// the places, the place of one of that address. A client that reads, however slowly, keeps its place before others of
/// its address. Thread: that of the io_context.
class EventStream {
 public:
  explicit EventStream(boost::asio::io_context& context, EventLimits limits = {})
      : context_(context), limits_(limits) {}
  /// Closes every connection.
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  [[nodiscard]] bool empty() const { return clients_.empty(); }
  /// True if a client with that address would get a place: one is free, or somebody has to give up theirs.
  [[nodiscard]] bool has_place_for(const boost::asio::ip::address& address) const;
  /// Takes a connection over whose request is answered by events. Closes it where there is no place for it.
  void add(boost::asio::ip::tcp::socket socket);
  /// Sends an event to all. `data` has no line ends.
  void send(const std::string& data);

 private:
  class Client;
  using Clients = std::set<std::shared_ptr<Client>>;
  /// The client whose place a client with that address gets; none where nobody has to give up theirs.
  [[nodiscard]] Clients::const_iterator victim_for(const boost::asio::ip::address& address) const;

  boost::asio::io_context& context_;
  EventLimits limits_;
  Clients clients_;
};

}  // namespace sluice::http

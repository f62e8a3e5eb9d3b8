#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>

namespace sluice::http {

/// What watchers may take of the program's time and memory.
struct EventLimits {
  std::size_t clients = 8;
  std::chrono::milliseconds patience{5'000};  ///< for an event to be taken
  int send_buffer = 64 << 10;                 ///< bytes that the kernel keeps for a client
};

/// Server-sent events to several clients. An event is written once and shared. For a client that still takes an earlier
/// event only the newest waits, and one that takes an event for longer than `patience` is dropped: a slow reader costs
/// two events and one buffer of the kernel. Thread: that of the io_context.
class EventStream {
 public:
  explicit EventStream(boost::asio::io_context& context, EventLimits limits = {})
      : context_(context), limits_(limits) {}
  /// Closes every connection.
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  [[nodiscard]] bool empty() const { return clients_.empty(); }
  [[nodiscard]] bool full() const { return clients_.size() >= limits_.clients; }
  /// Takes a connection over whose request is answered by events. Closes it when full().
  void add(boost::asio::ip::tcp::socket socket);
  /// Sends an event to all. `data` has no line ends.
  void send(const std::string& data);

 private:
  class Client;

  boost::asio::io_context& context_;
  EventLimits limits_;
  std::set<std::shared_ptr<Client>> clients_;
};

}  // namespace sluice::http

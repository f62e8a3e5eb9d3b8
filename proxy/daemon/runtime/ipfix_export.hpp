#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/daemon/threads/shard_channel.hpp"
#include "proxy/ops/ipfix/messages.hpp"

namespace sluice::proxy {

/// Exports a record of each ended connection as IPFIX over UDP. Fetches the records from the shards five times a
/// second. It never waits: records that the socket or a queue has no space for are lost and counted. Thread: the
/// control thread.
class IpfixExport {
 public:
  /// Opens the socket, gives each channel a queue, and starts. Call it before the poll threads are created. Throws
  /// std::runtime_error if the collector cannot be reached by any route.
  IpfixExport(boost::asio::io_context& context, const IpfixSettings& settings, std::vector<ShardChannel*> channels);

  /// Exports what the shards have recorded until now.
  void export_now();
  /// Appends the counters of the export.
  void add_counters(std::vector<NamedCounter>& out) const;

 private:
  void wait();
  void send(const ipfix::Message& message);

  IpfixSettings settings_;
  std::vector<ShardChannel*> channels_;
  boost::asio::ip::udp::socket socket_;
  boost::asio::steady_timer timer_;
  ipfix::MessageWriter writer_;
  Instant templates_at_{};  ///< when the templates are sent next
  std::uint64_t records_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t unsent_ = 0;  ///< records in messages that the socket did not take
};

}  // namespace sluice::proxy

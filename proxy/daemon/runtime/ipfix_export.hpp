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
/// second. Never blocks: a record is lost and counted if the queue of its shard or the socket buffer is full. Thread:
/// the control thread.
class IpfixExport {
 public:
  /// Opens the socket, gives each channel a queue for records, and starts the export. Call it before the poll threads
  /// are created. Throws std::runtime_error if there is no route to the collector.
  IpfixExport(boost::asio::io_context& context, const IpfixSettings& settings, std::vector<ShardChannel*> channels);

  /// Exports all records that the shards have queued.
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
  Instant templates_at_{};  ///< time at which the IPFIX templates are sent again
  std::uint64_t records_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t unsent_ = 0;  ///< number of records that were lost because the socket refused their message
};

}  // namespace sluice::proxy

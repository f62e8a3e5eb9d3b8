// Export of ended connections as IPFIX over UDP. Runtime creates it if the configuration has a collector. Invariant: it
// never waits for the collector, and every lost record is counted.
#include "proxy/daemon/runtime/ipfix_export.hpp"

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "proxy/daemon/status/counter_texts.hpp"

namespace sluice::proxy {
namespace {

using boost::asio::ip::udp;

/// Interval at which the control thread fetches records from the shards.
constexpr auto period = std::chrono::milliseconds(200);
/// Maximum number of records that one call fetches from a shard, so that other work of the control thread is not
/// delayed.
constexpr int max_records_at_once = 4096;

udp::endpoint endpoint_of(const config::SocketAddress& address) {
  return {boost::asio::ip::make_address(address.address.to_string()), address.port};
}

/// Current time of the poll threads' monotonic clock and of the system clock, to convert between the two.
struct Clocks {
  std::int64_t unix_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  Instant now = dpdk::now();

  [[nodiscard]] std::uint32_t seconds() const { return static_cast<std::uint32_t>(unix_ms / 1000); }
  [[nodiscard]] ipfix::UnixMilliseconds unix_time_of(Instant at) const {
    return static_cast<ipfix::UnixMilliseconds>(
        unix_ms - std::chrono::duration_cast<std::chrono::milliseconds>(now - at).count());
  }
};

}  // namespace

IpfixExport::IpfixExport(boost::asio::io_context& context, const IpfixSettings& settings,
                         std::vector<ShardChannel*> channels)
    : settings_(settings),
      channels_(std::move(channels)),
      socket_(context),
      timer_(context),
      writer_({settings.domain, settings.enterprise}) {
  const udp::endpoint collector = endpoint_of(settings.collector);
  boost::system::error_code error;
  socket_.open(collector.protocol(), error);
  if (!error) socket_.non_blocking(true, error);
  if (!error) socket_.connect(collector, error);
  if (error) {
    throw std::runtime_error("ipfix.collector " + config::Scalar<config::SocketAddress>::format(settings.collector) +
                             ": " + error.message() + "; is there a route to it?");
  }
  for (ShardChannel* channel : channels_) channel->records = std::make_unique<ConnectionRing>();
  wait();
}

void IpfixExport::wait() {
  timer_.expires_after(period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    export_now();
    wait();
  });
}

void IpfixExport::export_now() {
  const Clocks clocks;
  if (clocks.now >= templates_at_) {
    send(writer_.templates(clocks.seconds()));
    templates_at_ = clocks.now + settings_.template_refresh;
  }
  ConnectionRecord record;
  for (ShardChannel* channel : channels_) {
    for (int i = 0; i < max_records_at_once && channel->records->pop(record); ++i) {
      const auto message =
          writer_.add(record, clocks.unix_time_of(record.first), clocks.unix_time_of(record.last), clocks.seconds());
      if (message) send(*message);
    }
  }
  if (const auto message = writer_.finish(clocks.seconds())) send(*message);
}

void IpfixExport::send(const ipfix::Message& message) {
  boost::system::error_code error;
  socket_.send(boost::asio::buffer(message.octets), 0, error);
  // If the collector is down, the kernel reports here that the previous datagram was refused. It has not sent this
  // datagram then, so this datagram is sent once more.
  if (error == boost::asio::error::connection_refused) socket_.send(boost::asio::buffer(message.octets), 0, error);
  if (error) {
    unsent_ += message.records;
    return;
  }
  ++messages_;
  records_ += message.records;
}

void IpfixExport::add_counters(std::vector<NamedCounter>& out) const {
  std::uint64_t lost = 0;
  for (const ShardChannel* channel : channels_) lost += channel->records->lost();
  out.push_back(counter_of("ipfix.records", records_));
  out.push_back(counter_of("ipfix.messages", messages_));
  out.push_back(counter_of("ipfix.records_unsent", unsent_));
  out.push_back(counter_of("ipfix.records_dropped", lost));
}

}  // namespace sluice::proxy

#include "proxy/runtime/feedback_link.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::proxy {
namespace {

using boost::asio::ip::udp;
namespace feedback = control::feedback;

/// A report has reached its shard and been taken up by then.
constexpr auto answer_delay = std::chrono::microseconds(300);
/// With nothing to tell, this often we say that we are there.
constexpr Duration heartbeat = std::chrono::seconds(1);

udp::endpoint endpoint_of(const config::SocketAddress& address) {
  const auto& octets = address.address.octets;
  if (address.address.is_v4()) {
    boost::asio::ip::address_v4::bytes_type bytes{};
    std::copy(octets.begin() + 12, octets.end(), bytes.begin());
    return {boost::asio::ip::address_v4(bytes), address.port};
  }
  boost::asio::ip::address_v6::bytes_type bytes{};
  std::copy(octets.begin(), octets.end(), bytes.begin());
  return {boost::asio::ip::address_v6(bytes), address.port};
}

feedback::SessionConfig session_config(const config::FeedbackConfig& config) {
  const auto wall_clock = std::chrono::system_clock::now().time_since_epoch();
  feedback::SessionConfig session;
  session.role = feedback::Role::proxy;
  session.sender = config.sender;
  session.epoch = config.session_epoch(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(wall_clock).count()));
  session.keys = config.session_keys();
  session.send_key = config.session_send_key();
  session.max_datagram = static_cast<std::size_t>(config.max_datagram.count());
  return session;
}

feedback::UdpEndpointConfig endpoint_config(const config::FeedbackConfig& config) {
  feedback::UdpEndpointConfig endpoint;
  endpoint.local = endpoint_of(config.listen);
  for (const config::SocketAddress& peer : config.peers) endpoint.peers.push_back(endpoint_of(peer));
  endpoint.learn_peers = config.learn_peers;
  return endpoint;
}

}  // namespace

FeedbackLink::FeedbackLink(boost::asio::io_context& context, const config::FeedbackConfig& config, Shards shards) try
    : period_(config.status_period),
      context_(context),
      shards_(std::move(shards)),
      waking_(shards_.channels.size()),
      session_(session_config(config)),
      endpoint_(context, endpoint_config(config), session_, *this),
      ticker_(context),
      answer_(context) {
  endpoint_.start();
  ticker_.expires_after(period_);
  tick();
} catch (const boost::system::system_error& problem) {
  throw std::runtime_error("feedback.listen " + config::Scalar<config::SocketAddress>::format(config.listen) +
                           " cannot be had: " + problem.code().message() +
                           "; is another program using the port, and is the address one of this machine's?");
}

FeedbackLink::~FeedbackLink() {
  endpoint_.stop();
}

void FeedbackLink::on_report(const feedback::Header& header, const feedback::BearerReport& report) {
  const unsigned shard = shards_.owner(report.ue);
  ShardChannel& channel = *shards_.channels.at(shard);
  if (!channel.reports.push(
          {report, header.sender, header.epoch, header.sequence, header.sender_time, header.period})) {
    ++reports_lost_;
  }
  if (header.poll) {
    for (ShardChannel* each : shards_.channels) each->all_statuses_wanted.store(true, std::memory_order_relaxed);
  }
  wake_soon(shard);
  answer_soon();
}

void FeedbackLink::on_status(const feedback::Header&, const feedback::BearerStatus&) {
  // The session refuses statuses on this side.
}

/// Once for all records that the socket has at the moment.
void FeedbackLink::wake_soon(unsigned shard) {
  if (waking_.at(shard)) return;
  waking_.at(shard) = true;
  boost::asio::post(context_, [this, shard] {
    waking_.at(shard) = false;
    shards_.wake(shard);
  });
}

void FeedbackLink::tick() {
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    send_statuses();
    // From the due time, not from now: lateness does not add up. After a long stall the missed ticks are skipped.
    const auto now = boost::asio::steady_timer::clock_type::now();
    const auto next = ticker_.expiry() + period_;
    ticker_.expires_at(next > now ? next : now + period_);
    tick();
  });
}

void FeedbackLink::answer_soon() {
  if (std::exchange(answering_, true)) return;
  answer_.expires_after(answer_delay);
  answer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    answering_ = false;
    send_statuses();
  });
}

void FeedbackLink::send_statuses() {
  statuses_.clear();
  for (ShardChannel* channel : shards_.channels) {
    channel->statuses.consume_all([this](const feedback::BearerStatus& status) { statuses_.push_back(status); });
  }
  const Instant now = dpdk::now();
  if (statuses_.empty() && now - last_sent_ < heartbeat) return;
  last_sent_ = now;
  endpoint_.send_statuses(statuses_, now.time_since_epoch(), period_);
}

}  // namespace sluice::proxy

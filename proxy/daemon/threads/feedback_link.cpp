// The proxy's end of the feedback protocol (control/feedback/PROTOCOL.md). Runtime creates it on the control thread,
// where asio calls it for each datagram. It routes reports to the shard that owns the UE and sends the statuses of
// all shards. Invariant: a report that no shard received is counted, and the sender's sequence is marked as
// incomplete.
#include "proxy/daemon/threads/feedback_link.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/random.hpp"
#include "proxy/config/feedback_session.hpp"

namespace sluice::proxy {
namespace {

namespace feedback = control::feedback;

/// Delay of a status after a report, in which the shard receives and applies the report.
constexpr auto answer_delay = std::chrono::microseconds(300);
/// Interval of empty status messages that show a Node-B that the proxy is alive.
constexpr Duration heartbeat = std::chrono::seconds(1);
/// Maximum number of Node-Bs that leave unchanged UEs out of their reports and whose sequence numbers are tracked.
constexpr std::size_t max_suppressing = 1024;

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

feedback::ReceivedAt received_now() {
  return {dpdk::now(), wall_clock_ns()};
}

}  // namespace

std::string wiring(const config::FeedbackConfig& config, const feedback::FailureCounters& received) {
  const auto name = [](const config::SocketAddress& address) {
    return fmt::format("{} port {}", address.address.to_string(), address.port);
  };
  std::vector<std::string> peers;
  for (const config::SocketAddress& peer : config.peers) peers.push_back(name(peer));
  std::vector<std::uint32_t> keys;
  for (const config::KeyConfig& key : config.keys) keys.push_back(key.id);
  std::string text = fmt::format("feedback listens on {}, has {} and key id {}", name(config.listen),
                                 peers.empty() ? "no peers" : fmt::format("the peer {}", fmt::join(peers, ", ")),
                                 fmt::join(keys, ", "));
  std::string refused;
  for (std::size_t i = 1; i < received.size(); ++i) {
    if (received.at(i) == 0) continue;
    refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", received.at(i),
                           feedback::name_of(static_cast<feedback::Failure>(i)));
  }
  return text + (refused.empty() ? "; no datagram was refused" : "; datagrams refused since the start: " + refused);
}

FeedbackLink::FeedbackLink(boost::asio::io_context& context, const config::FeedbackConfig& config, Shards shards) try
    : period_(config.status_period),
      largest_(config.largest),
      context_(context),
      shards_(std::move(shards)),
      waking_(shards_.channels.size()),
      session_(config::session_config(config, feedback::Role::proxy, wall_clock_ns(),
                                      dpdk::random_octets<sizeof(feedback::SessionId)>())),
      endpoint_(context, config::endpoint_config(config, received_now), session_, *this),
      ticker_(context),
      answer_(context) {
  endpoint_.start();
  ticker_.expires_after(period_);
  tick();
} catch (const boost::system::system_error& problem) {
  throw std::runtime_error("feedback.listen " + config::Scalar<config::SocketAddress>::format(config.listen) +
                           " cannot be bound: " + problem.code().message() +
                           "; is another program using the port, and is the address one of this machine's?");
}

FeedbackLink::~FeedbackLink() {
  endpoint_.stop();
}

/// Handles the header of a message from a Node-B: notifies the shards of omitted UEs, and schedules the answer to a
/// poll. A poll is answered even if its message contains no records.
void FeedbackLink::on_message(const feedback::Header& header) {
  if (header.refresh > Duration::zero() || suppressing_.contains(header.sender)) pass_on_omission(header);
  if (!header.poll) return;
  for (ShardChannel* each : shards_.channels) each->all_statuses_wanted.store(true, std::memory_order_relaxed);
  for (unsigned shard = 0; shard < waking_.size(); ++shard) wake_soon(shard);
  asked_ = true;
  answer_soon();
}

/// Notifies every shard that a Node-B's datagram omits unchanged UEs, because the omission confirms their last reported
/// state.
void FeedbackLink::pass_on_omission(const feedback::Header& header) {
  if (suppressing_.size() >= max_suppressing && !suppressing_.contains(header.sender)) suppressing_.clear();
  feedback::SequenceGapTracker& gaps = suppressing_[header.sender];
  gaps.take(header.epoch, header.sequence);
  if (header.refresh == Duration::zero()) return;  // the Node-B omits nothing in this message
  const OmissionNotice notice{header.sender,      header.epoch,  header.sequence, gaps.since(),
                              header.sender_time, header.period, header.refresh};
  for (unsigned shard = 0; shard < waking_.size(); ++shard) {
    static_cast<void>(shards_.channels.at(shard)->omissions.push(notice));
    wake_soon(shard);
  }
}

/// Records that a part of this sender's newest datagram was lost in the proxy. Otherwise an omitted UE could count as
/// unchanged since an older report.
void FeedbackLink::lose_record(std::uint64_t sender) {
  if (const auto found = suppressing_.find(sender); found != suppressing_.end()) found->second.lose();
}

void FeedbackLink::on_report(const feedback::Header& header, const feedback::BearerReport& report) {
  if (!plausible(report, largest_)) {
    ++reports_implausible_;
    lose_record(header.sender);
    return;
  }
  const unsigned shard = shards_.owner(report.ue);
  ShardChannel& channel = *shards_.channels.at(shard);
  if (!channel.reports.push(
          {report, header.sender, header.epoch, header.sequence, header.sender_time, header.period})) {
    ++reports_lost_;
    lose_record(header.sender);
  }
  wake_soon(shard);
  answer_soon();
}

void FeedbackLink::on_status(const feedback::Header&, const feedback::BearerStatus&) {
  // The session rejects statuses on the proxy's side.
}

/// Schedules one wake-up of the shard for all records that the socket contains at present.
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
    send_statuses(false);
    // The next tick counts from the due time, so that delays do not add up. After a long stall the missed ticks are
    // skipped.
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
    send_statuses(std::exchange(asked_, false));
  });
}

/// Sends the collected statuses. `asked` is true after a poll, which is answered even without statuses.
void FeedbackLink::send_statuses(bool asked) {
  statuses_.clear();
  for (ShardChannel* channel : shards_.channels) {
    channel->statuses.consume_all([this](const feedback::BearerStatus& status) { statuses_.push_back(status); });
  }
  const Instant now = dpdk::now();
  if (statuses_.empty() && !asked && now - last_sent_ < heartbeat) return;
  last_sent_ = now;
  session_.set_limit(session_.limit_of_peers(now));
  endpoint_.send_statuses(statuses_, now.time_since_epoch(), period_);
}

}  // namespace sluice::proxy

// Receives Node-B reports for the proxy and sends the statuses that answer them. Runtime creates the FeedbackLink on
// the control thread. The configured source (control/feedback/report_source.hpp) receives, authenticates and decodes
// messages. The link routes their reports to the shard that owns the UE and gives the source the statuses of all
// shards. Invariant: a report that no shard received is counted, and the source is informed of it.
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

/// Delay between a Node-B report and the status message that answers it. Within this time the shard receives and
/// applies the report.
constexpr auto answer_delay = std::chrono::microseconds(300);
/// Interval of empty status messages, which show a Node-B that the proxy is running.
constexpr Duration heartbeat = std::chrono::seconds(1);
/// Prefix in the names of the counters that count refused messages, one for each reason.
constexpr std::string_view refused_prefix = "refused_";

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

feedback::ReceivedAt received_now() {
  return {dpdk::now(), wall_clock_ns()};
}

/// Returns the prefix of the counter names of a source of Node-B reports. The prefix contains the configuration word of
/// the source. Only the source `sluice` has no word in its prefix, because its counter names are older than other
/// sources.
std::string prefix_of(feedback::ReportSourceKind kind) {
  if (kind == feedback::ReportSourceKind::sluice) return "feedback.";
  return fmt::format("feedback.{}.", feedback::word_of(kind));
}

}  // namespace

std::string wiring(const config::FeedbackConfig& config, const FeedbackLink& link) {
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
  for (const feedback::SourceCounter& counter : link.counters()) {
    const std::size_t at = counter.name.find(refused_prefix);
    if (counter.value == 0 || at == std::string::npos) continue;
    refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", counter.value,
                           counter.name.substr(at + refused_prefix.size()));
  }
  return text + (refused.empty() ? "; no datagram was refused" : "; datagrams refused since the start: " + refused);
}

FeedbackLink::FeedbackLink(boost::asio::io_context& context, const config::ProxyFeedbackConfig& config,
                           Shards shards) try
    : kind_(config.source),
      period_(config.status_period),
      largest_(config.largest),
      context_(context),
      shards_(std::move(shards)),
      waking_(shards_.channels.size()),
      source_(feedback::make_report_source(config.source, context,
                                           {config::session_config(config, feedback::Role::proxy, wall_clock_ns(),
                                                                   dpdk::random_octets<sizeof(feedback::SessionId)>()),
                                            config::endpoint_config(config, received_now)},
                                           *this)),
      ticker_(context),
      answer_(context) {
  source_->start();
  ticker_.expires_after(period_);
  tick();
} catch (const boost::system::system_error& problem) {
  throw std::runtime_error("feedback.listen " + config::Scalar<config::SocketAddress>::format(config.listen) +
                           " cannot be bound: " + problem.code().message() +
                           "; is another program using the port, and is the address one of this machine's?");
}

FeedbackLink::~FeedbackLink() {
  source_->stop();
}

std::uint64_t FeedbackLink::refused() const {
  std::uint64_t sum = 0;
  for (const feedback::SourceCounter& counter : source_->counters()) {
    if (counter.name.starts_with(refused_prefix)) sum += counter.value;
  }
  return sum;
}

std::vector<feedback::SourceCounter> FeedbackLink::counters() const {
  std::vector<feedback::SourceCounter> out = source_->counters();
  out.push_back({"reports_implausible", "bearer records refused: above feedback.largest_rate or feedback.largest_queue",
                 reports_implausible_, true});
  out.push_back({"reports_lost", "bearer records dropped because a shard fell behind", reports_lost_, true});
  for (feedback::SourceCounter& counter : out) counter.name = prefix_of(kind_) + counter.name;
  return out;
}

/// Handles a Node-B's poll, a request for the statuses of all bearers. Asks every shard for its statuses and schedules
/// the answer. The answer is sent even if there are no bearers.
void FeedbackLink::on_poll() {
  for (ShardChannel* each : shards_.channels) each->all_statuses_requested.store(true, std::memory_order_relaxed);
  for (unsigned shard = 0; shard < waking_.size(); ++shard) wake_soon(shard);
  asked_ = true;
  answer_soon();
}

/// Notifies every shard of a datagram in which a Node-B left out unchanged UEs. The notice confirms the last report
/// about each of these UEs.
void FeedbackLink::on_omission(const feedback::OmissionNotice& notice) {
  for (unsigned shard = 0; shard < waking_.size(); ++shard) {
    static_cast<void>(shards_.channels.at(shard)->omissions.push(notice));
    wake_soon(shard);
  }
}

bool FeedbackLink::on_report(const feedback::ReportArrival& report) {
  if (!plausible(report.bearer, largest_)) {
    ++reports_implausible_;
    return false;
  }
  const unsigned shard = shards_.owner(report.bearer.ue);
  const bool queued = shards_.channels.at(shard)->reports.push(report);
  if (!queued) ++reports_lost_;
  wake_soon(shard);
  answer_soon();
  return queued;
}

/// Schedules one call of Shards::wake() for the shard, after all reports that now wait in the socket were received.
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

/// Sends the status messages collected from the shards. If `asked` is true, also sends when there are none, because a
/// Node-B has requested an answer (poll).
void FeedbackLink::send_statuses(bool asked) {
  statuses_.clear();
  for (ShardChannel* channel : shards_.channels) {
    channel->statuses.consume_all([this](const feedback::BearerStatus& status) { statuses_.push_back(status); });
  }
  const Instant now = dpdk::now();
  if (statuses_.empty() && !asked && now - last_sent_ < heartbeat) return;
  last_sent_ = now;
  source_->send_statuses(statuses_, now, period_);
}

}  // namespace sluice::proxy

// Feedback protocol of a Node-B in real time. LiveRun creates one LiveFeedback per Node-B. The poll thread passes
// reports to a thread with the UDP socket and receives statuses, through two SPSC rings. Invariant: the poll thread
// counts datagrams like the session does, so that grants carry the right sequence number.

#include "emulator/runtime/live_feedback.hpp"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <stdexcept>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/random.hpp"
#include "proxy/config/feedback_session.hpp"

namespace sluice::emulator {
namespace {

namespace feedback = control::feedback;

/// Tags of events: `way_out` marks the arrival of a message at the proxy, and `way_in` the arrival of a status message
/// at the reporter. `poll_in` marks the arrival of the proxy's poll at the reporter.
constexpr std::uint64_t way_out = 0;
constexpr std::uint64_t way_in = 1;
constexpr std::uint64_t poll_in = 2;

/// Longest time between two messages to all proxies. A proxy sends status messages only for two seconds after each
/// message, so messages are also sent when there is nothing to report.
constexpr Duration empty_message_period = std::chrono::milliseconds(500);

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

feedback::ReceivedAt received_now() {
  return {dpdk::now(), wall_clock_ns()};
}

}  // namespace

LiveFeedback::LiveFeedback(EventLoop& loop, const config::FeedbackConfig& config, const Timing& timing, Meter& meter,
                           dpdk::PollPolicy& poll_thread) try
    : loop_(loop),
      timing_(timing),
      meter_(meter),
      poll_thread_(poll_thread),
      work_(context_.get_executor()),
      session_(config::session_config(config, feedback::Role::node_b, wall_clock_ns(),
                                      dpdk::random_octets<sizeof(feedback::SessionId)>())) {
  endpoint_ = std::make_unique<feedback::UdpEndpoint>(context_, config::endpoint_config(config, received_now), session_,
                                                      static_cast<feedback::RecordHandler&>(*this));
  limit_ = session_.limit();
  endpoint_->start();
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "feedback");
    if (timing_.priority == dpdk::ThreadPriority::real_time) dpdk::take_real_time_priority();
    context_.run();
  });
} catch (const boost::system::system_error& problem) {
  throw std::runtime_error("live.feedback.listen " + config::Scalar<config::SocketAddress>::format(config.listen) +
                           " cannot be bound: " + problem.code().message() +
                           "; is another program using the port, and is the address one of this machine's?");
}

LiveFeedback::~LiveFeedback() {
  stop();
}

void LiveFeedback::stop() {
  if (!thread_.joinable()) return;
  boost::asio::post(context_, [this] {
    endpoint_->stop();
    work_.reset();
    context_.stop();
  });
  thread_.join();
}

std::uint64_t LiveFeedback::datagrams_refused() const {
  const feedback::FailureCounters& counters = session_.counters();
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < counters.size(); ++i) sum += counters[i];
  return sum;
}

void LiveFeedback::send_changes(std::span<const feedback::BearerReport> reports, Duration refresh, Instant now) {
  meter_.reported(reports);
  if (!may_have_several_proxies()) {
    return send_delayed({std::nullopt, {reports.begin(), reports.end()}}, refresh, now);
  }
  for (const feedback::RoutedReports& way : ownership_.route(reports, now)) {
    if (!way.to) {
      if (way.reports.empty() && !reports.empty() && !asked_ && now - last_sent_to_all_ < empty_message_period)
        continue;
      last_sent_to_all_ = now;
      asked_ = false;
    }
    send_delayed(way, refresh, now);
  }
}

// Sends one message to its destination after the delay. The session numbers datagrams on the other thread, so they are
// counted here by the same rule; grants carry the number of their datagram.
void LiveFeedback::send_delayed(feedback::RoutedReports reports, Duration refresh, Instant now) {
  const std::size_t limit = limit_.load(std::memory_order_relaxed);
  const std::uint64_t datagrams =
      feedback::datagrams_of(reports.reports, session_.record_room(limit), refresh > Duration::zero());
  for (std::uint64_t count = datagrams; count > 0; --count) {
    due_[++sequence_ % due_.size()] = now + timing_.delay;
  }
  to_proxy_.push_back({std::move(reports), datagrams, now, refresh, limit});
  loop_.at(now + timing_.delay, *this, way_out);
}

void LiveFeedback::on_event(std::uint64_t tag, Instant now) {
  if (tag == way_out) {
    hand_over(to_proxy_.front());
    to_proxy_.pop_front();
  } else if (tag == poll_in) {
    asked_ = true;
    reporter_->on_poll(now);
  } else {
    take_status(from_proxy_.front(), now);
    from_proxy_.pop_front();
  }
}

/// Passes a status message to the reporter. With several proxies, only status messages from the proxy that claims the
/// UE are accepted.
void LiveFeedback::take_status(const StatusRx& rx, Instant now) {
  if (may_have_several_proxies() && !ownership_.take(rx.sender, rx.epoch, rx.status, now)) return;
  reporter_->on_status(rx.status, now);
}

void LiveFeedback::hand_over(const Message& message) {
  const std::vector<feedback::BearerReport>& reports = message.reports.reports;
  if (outgoing_.write_available() < std::max<std::size_t>(reports.size(), 1)) {
    reports_lost_ += reports.size();
    skipped_ += message.datagrams;
    return;
  }
  const Duration sent = message.sent.time_since_epoch();
  Outgoing item{std::nullopt, sent, message.reports.to, reports.empty(), skipped_, message.refresh, message.limit};
  if (reports.empty()) outgoing_.push(item);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    item.report = reports[i];
    item.last = i + 1 == reports.size();
    outgoing_.push(item);
  }
  skipped_ = 0;
  if (!draining_.exchange(true)) boost::asio::post(context_, [this] { drain(); });
}

void LiveFeedback::drain() {
  draining_ = false;  // cleared before the ring is read, because later pushes post another call
  Outgoing item;
  while (outgoing_.pop(item)) {
    if (item.report) batch_.push_back(*item.report);
    if (!item.last) continue;
    session_.skip(item.skipped);
    session_.set_limit(item.limit);
    if (item.to) {
      endpoint_->send_reports_to(*item.to, batch_, item.now, timing_.period, item.refresh);
    } else {
      endpoint_->send_reports(batch_, item.now, timing_.period, false, item.refresh);
    }
    batch_.clear();
  }
}

/// Records the time from the arrival of a report at the proxy to the arrival of the status message that confirms it.
/// `applied` is the sequence number of the report that the status message confirms. Ignores sequence numbers that were
/// never sent or were confirmed before, and those whose arrival time is no longer stored.
void LiveFeedback::take_echo(std::uint64_t applied, Instant now) {
  if (applied <= echoed_ || applied > sequence_ || sequence_ - applied >= due_.size()) return;
  echoed_ = applied;
  echoes_.add(now - due_[applied % due_.size()]);
}

bool LiveFeedback::deliver(Reporter& reporter, Instant now) {
  reporter_ = &reporter;
  bool any = false;
  StatusRx rx;
  while (incoming_.pop(rx)) {
    const feedback::BearerStatus& status = rx.status;
    // Skips the echo if the proxy uses the reports of another Node-B for this UE, because the number is that one's.
    if (!status.reporter || *status.reporter == session_.config().sender) take_echo(status.applied_sequence, now);
    from_proxy_.push_back(rx);
    loop_.at(now + timing_.delay, *this, way_in);
    ++statuses_;
    any = true;
  }
  if (polled_.load(std::memory_order_relaxed)) {
    polled_.store(false, std::memory_order_relaxed);
    loop_.at(now + timing_.delay, *this, poll_in);
    any = true;
  }
  return any;
}

/// Reads which features the proxies support. Reports may only omit unchanged UEs if there is one proxy. With several
/// proxies, each gets only some datagrams, so the sequence numbers have gaps. A proxy could then not determine whether
/// a missing UE was omitted or its report was lost.
void LiveFeedback::record_abilities() {
  const Instant now = dpdk::now();
  takes_changes_.store(session_.peer_features(now).changes && endpoint_->destination_count() <= 1,
                       std::memory_order_relaxed);
  limit_.store(session_.limit_of_peers(now), std::memory_order_relaxed);
}

void LiveFeedback::on_message(const feedback::Header& header) {
  record_abilities();
  if (!header.poll) return;
  polled_.store(true, std::memory_order_relaxed);
  poll_thread_.wake_if_asleep();
}

void LiveFeedback::on_report(const feedback::Header&, const feedback::BearerReport&) {
  // The session refuses reports on this side.
}

void LiveFeedback::on_status(const feedback::Header& header, const feedback::BearerStatus& status) {
  static_cast<void>(
      incoming_.push({header.sender, header.epoch, status}));  // dropped if the ring is full: a newer one follows
  poll_thread_.wake_if_asleep();
}

}  // namespace sluice::emulator

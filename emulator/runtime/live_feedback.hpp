#pragma once

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "control/feedback/ue_ownership.hpp"
#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/runtime/meter.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::emulator {

/// Sends reports to the proxy and receives its status messages in real time. A separate feedback thread owns the UDP
/// socket; two single-producer rings connect it with the poll thread. If no proxy answers, only the counters show that.
///
/// Datagrams are delayed like the packets between Node-B and proxy. The SMVS controller needs this: it assumes that
/// packets sent before a status message have arrived when the message arrives.
///
/// If several proxies are possible, a UE's reports are sent only to the proxy that claims the UE. Status messages of
/// other proxies about this UE are ignored.
class LiveFeedback final : public ReportSink, public EventTarget, private control::feedback::RecordHandler {
 public:
  struct Timing {
    Duration period{};                                             ///< Ts, the report period
    Duration delay{};                                              ///< one-way delay
    dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;  ///< priority of the thread that sends reports
  };
  /// Binds the socket and starts the thread. `loop`, `meter` and `poll_thread` must outlive it; `poll_thread` is woken
  /// for messages from the proxy. Throws std::runtime_error if the address cannot be bound.
  LiveFeedback(EventLoop& loop, const config::FeedbackConfig& config, const Timing& timing, Meter& meter,
               dpdk::PollPolicy& poll_thread);
  ~LiveFeedback();
  LiveFeedback(const LiveFeedback&) = delete;
  LiveFeedback& operator=(const LiveFeedback&) = delete;

  // Functions of the poll thread.
  [[nodiscard]] std::uint64_t next_sequence() const override { return sequence_ + 1; }
  void send(std::span<const control::feedback::BearerReport> reports, Instant now) override {
    send_changes(reports, {}, now);
  }
  /// True if there is one proxy, and it accepts that reports omit unchanged UEs.
  [[nodiscard]] bool may_leave_out() const override { return takes_changes_.load(std::memory_order_relaxed); }
  void send_changes(std::span<const control::feedback::BearerReport> reports, Duration refresh, Instant now) override;
  /// Passes the status messages and polls received since the last call to `reporter`, after the configured delay.
  /// Returns true if there were any.
  bool deliver(Reporter& reporter, Instant now);
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the number of status messages about single UEs that were received.
  [[nodiscard]] std::uint64_t statuses() const { return statuses_; }
  /// Returns the times from the arrival of a report at the proxy until a status message that confirms it arrives at the
  /// Node-B. The status message confirms the allowance in the report (bytes that the proxy may send). Recorded only if
  /// the SMVS controller runs at the Node-B.
  [[nodiscard]] const DelayDigest& echoes() const { return echoes_; }
  /// True if several proxies are possible. The proxies' claims then determine the proxy to which a UE's reports are
  /// sent.
  [[nodiscard]] bool may_have_several_proxies() const { return endpoint_->may_have_several(); }
  /// Returns the counters of the claims by which proxies announce their UEs; all 0 with a single proxy.
  [[nodiscard]] const control::feedback::ClaimCounters& claims() const { return ownership_.counters(); }
  /// Returns the number of reports that were not sent because the feedback thread fell behind.
  [[nodiscard]] std::uint64_t reports_lost() const { return reports_lost_; }

  // Functions for any thread, after stop() has returned.
  void stop();
  [[nodiscard]] std::uint64_t datagrams_refused() const;
  [[nodiscard]] const std::optional<control::feedback::StaleSender>& stale() const { return session_.stale(); }
  [[nodiscard]] control::feedback::UdpCounters socket() const { return endpoint_->counters(); }

 private:
  struct Outgoing {
    /// Report of one UE; absent in a message without reports.
    std::optional<control::feedback::BearerReport> report;
    Duration now{};
    /// Sender id of the proxy to which the message is sent; absent: it is sent to all proxies.
    std::optional<std::uint64_t> to;
    bool last = false;  ///< true for the last record of a message
    /// Number of datagrams between the previous message and this one that have a sequence number but were not sent.
    std::uint64_t skipped = 0;
    Duration refresh{};     ///< longest time between reports of an unchanged UE; 0 if all UEs are in the message
    std::size_t limit = 0;  ///< largest size of the message's datagrams in bytes
  };
  struct Message {
    control::feedback::RoutedReports reports;
    std::uint64_t datagrams = 0;
    Instant sent;
    Duration refresh{};
    std::size_t limit = 0;
  };
  /// A status message about one UE, with the sender id of its proxy.
  struct StatusRx {
    std::uint64_t sender = 0;
    std::uint64_t epoch = 0;
    control::feedback::BearerStatus status;
  };
  static constexpr std::size_t ring_size = 4096;

  void on_message(const control::feedback::Header& header) override;
  void on_report(const control::feedback::Header& header, const control::feedback::BearerReport& report) override;
  void on_status(const control::feedback::Header& header, const control::feedback::BearerStatus& status) override;
  void take_echo(std::uint64_t applied, Instant now);
  void take_status(const StatusRx& rx, Instant now);
  void send_delayed(control::feedback::RoutedReports reports, Duration refresh, Instant now);
  void hand_over(const Message& message);
  void drain();
  void record_abilities();

  EventLoop& loop_;
  Timing timing_;
  Meter& meter_;
  dpdk::PollPolicy& poll_thread_;
  Reporter* reporter_ = nullptr;
  std::deque<Message> to_proxy_;  ///< messages in flight to the proxy; used by the poll thread only
  std::deque<StatusRx> from_proxy_;
  control::feedback::UeOwnership ownership_;  ///< record of which proxy claims which UE; used by the poll thread only
  Instant last_sent_to_all_{};                ///< time of the last message to all proxies
  bool asked_ = false;  ///< true if a proxy has polled, and no message was sent to all proxies since
  /// Sequence number of the newest datagram, even if the datagram is still delayed. Used by the poll thread only.
  std::uint64_t sequence_ = 0;
  /// Time at which each datagram arrives at the proxy, at the index of its sequence number modulo the size.
  std::array<Instant, 1024> due_{};
  std::uint64_t echoed_ = 0;  ///< largest sequence number that a status message has confirmed
  DelayDigest echoes_;
  std::uint64_t statuses_ = 0;
  std::uint64_t reports_lost_ = 0;
  /// Number of datagrams with a sequence number that were not passed to the feedback thread. Used by the poll thread
  /// only.
  std::uint64_t skipped_ = 0;
  boost::lockfree::spsc_queue<Outgoing, boost::lockfree::capacity<ring_size>> outgoing_;
  boost::lockfree::spsc_queue<StatusRx, boost::lockfree::capacity<ring_size>> incoming_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> polled_{false};  ///< true if the proxy requests a report of all UEs
  std::atomic<bool> takes_changes_{false};
  std::atomic<std::size_t> limit_{control::feedback::default_max_datagram};  ///< largest datagram in bytes

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  control::feedback::Session session_;
  std::unique_ptr<control::feedback::UdpEndpoint> endpoint_;
  /// Records of the current message; used by the feedback thread only.
  std::vector<control::feedback::BearerReport> batch_;
  std::thread thread_;
};

}  // namespace sluice::emulator

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

#include "control/feedback/claims.hpp"
#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/runtime/meter.hpp"
#include "proxy/config/feedback.hpp"

namespace sluice::emulator {

/// Reports and statuses in real time: a thread of its own holds the UDP socket; the poll thread meets it only in two
/// single-producer rings. A proxy that is not there, or goes away, changes nothing here but counters. The datagrams are
/// under way as long as the packets between Node-B and proxy: the law takes what the proxy had sent before a status to
/// have arrived with it. Where there may be several proxies, a UE's reports go to the one that claims it, and only that
/// one's statuses tell of the UE.
class LiveFeedback final : public ReportSink, public EventTarget, private control::feedback::RecordHandler {
 public:
  struct Timing {
    Duration period{};                                             ///< Ts
    Duration delay{};                                              ///< one way
    dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;  ///< of the thread that sends the reports
  };
  /// Binds and starts the thread. `loop`, `meter` and `poll_thread`, which is woken for what the proxy says, outlive
  /// it. Throws std::runtime_error when the address cannot be had.
  LiveFeedback(EventLoop& loop, const config::FeedbackConfig& config, const Timing& timing, Meter& meter,
               dpdk::PollPolicy& poll_thread);
  ~LiveFeedback();
  LiveFeedback(const LiveFeedback&) = delete;
  LiveFeedback& operator=(const LiveFeedback&) = delete;

  // Poll thread.
  [[nodiscard]] std::uint64_t next_sequence() const override { return sequence_ + 1; }
  void send(std::span<const control::feedback::BearerReport> reports, Instant now) override {
    send_changes(reports, {}, now);
  }
  /// One proxy is there, and it says that it takes such reports.
  [[nodiscard]] bool may_leave_out() const override { return takes_changes_.load(std::memory_order_relaxed); }
  void send_changes(std::span<const control::feedback::BearerReport> reports, Duration refresh, Instant now) override;
  /// Takes what the proxy has said since the last call; the reporter hears it after the delay. True when there was
  /// something.
  bool deliver(Reporter& reporter, Instant now);
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::uint64_t statuses() const { return statuses_; }
  /// The time from the instant at which a report should reach the proxy until its status says that the report's
  /// allowance was taken up: the report's age at the proxy, and the status' way back. Only where the Node-B computes
  /// the law.
  [[nodiscard]] const DelayDigest& echoes() const { return echoes_; }
  /// Whether there may be more than one proxy: then claims count.
  [[nodiscard]] bool may_have_several_proxies() const { return endpoint_->may_have_several(); }
  /// What became of the proxies' claims; nothing where there is one proxy.
  [[nodiscard]] const control::feedback::ClaimCounters& claims() const { return claims_.counters(); }
  /// Reports that did not go out because the other thread fell behind.
  [[nodiscard]] std::uint64_t reports_lost() const { return reports_lost_; }

  // Any thread, once stop() has returned.
  void stop();
  [[nodiscard]] std::uint64_t datagrams_refused() const;
  [[nodiscard]] const std::optional<control::feedback::StaleSender>& stale() const { return session_.stale(); }
  [[nodiscard]] const control::feedback::UdpCounters& socket() const { return endpoint_->counters(); }

 private:
  struct Outgoing {
    std::optional<control::feedback::BearerReport> report;  ///< none in a message that has no records
    Duration now{};
    std::optional<std::uint64_t> to;  ///< sender id of a proxy; none: all
    bool last = false;                ///< of its message
    std::uint64_t skipped = 0;        ///< datagrams before this message that are not sent
    Duration refresh{};               ///< of its message, which may leave out UEs
    std::size_t limit = 0;            ///< bytes of its datagrams
  };
  struct Message {
    control::feedback::RoutedReports reports;
    std::uint64_t datagrams = 0;
    Instant sent;
    Duration refresh{};
    std::size_t limit = 0;
  };
  /// A status and who said it.
  struct Heard {
    std::uint64_t sender = 0;
    std::uint64_t epoch = 0;
    control::feedback::BearerStatus status;
  };
  static constexpr std::size_t ring_size = 4096;

  void on_message(const control::feedback::Header& header) override;
  void on_report(const control::feedback::Header& header, const control::feedback::BearerReport& report) override;
  void on_status(const control::feedback::Header& header, const control::feedback::BearerStatus& status) override;
  void take_echo(std::uint64_t applied, Instant now);
  void take_status(const Heard& heard, Instant now);
  void send_on_its_way(control::feedback::RoutedReports reports, Duration refresh, Instant now);
  void hand_over(const Message& message);
  void drain();
  void note_abilities();

  EventLoop& loop_;
  Timing timing_;
  Meter& meter_;
  dpdk::PollPolicy& poll_thread_;
  Reporter* reporter_ = nullptr;
  std::deque<Message> to_proxy_;  ///< poll thread: under way
  std::deque<Heard> from_proxy_;
  control::feedback::Claims claims_;  ///< poll thread
  Instant told_all_{};                ///< when a message last went to all proxies
  bool asked_ = false;                ///< by a proxy that waits for an answer
  std::uint64_t sequence_ = 0;        ///< poll thread: of the last datagram handed over
  std::array<Instant, 1024> due_{};   ///< by sequence number: when the datagram should reach the proxy
  std::uint64_t echoed_ = 0;          ///< the newest that a status has named
  DelayDigest echoes_;
  std::uint64_t statuses_ = 0;
  std::uint64_t reports_lost_ = 0;
  std::uint64_t skipped_ = 0;  ///< poll thread: datagrams that were numbered and not handed over
  boost::lockfree::spsc_queue<Outgoing, boost::lockfree::capacity<ring_size>> outgoing_;
  boost::lockfree::spsc_queue<Heard, boost::lockfree::capacity<ring_size>> incoming_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> polled_{false};  ///< the proxy wants to hear of all UEs
  std::atomic<bool> takes_changes_{false};
  std::atomic<std::size_t> limit_{control::feedback::default_max_datagram};  ///< bytes of a datagram to the proxy

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  control::feedback::Session session_;
  std::unique_ptr<control::feedback::UdpEndpoint> endpoint_;
  std::vector<control::feedback::BearerReport> batch_;  ///< feedback thread
  std::thread thread_;
};

}  // namespace sluice::emulator

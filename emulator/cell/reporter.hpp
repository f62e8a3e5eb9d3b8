#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/feedback/report.hpp"
#include "control/smvs/outstanding_grants.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/clamp_price.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// Receives the Node-B's reports and sends them to the proxy: the feedback endpoint in real time, or a link of the
/// virtual-time network.
class ReportSink {
 public:
  /// Returns the sequence number that the reports of the next send() will carry.
  [[nodiscard]] virtual std::uint64_t next_sequence() const = 0;
  /// Sends reports that were all made at `now`.
  virtual void send(std::span<const control::feedback::BearerReport> reports, Instant now) = 0;
  /// True if the receiver of the reports accepts that unchanged UEs are omitted.
  [[nodiscard]] virtual bool may_leave_out() const { return false; }
  /// Sends reports that may omit unchanged UEs; each UE is reported at least once per `refresh`. The default
  /// implementation calls send().
  virtual void send_changes(std::span<const control::feedback::BearerReport> reports, Duration /*refresh*/,
                            Instant now) {
    send(reports, now);
  }

 protected:
  ~ReportSink() = default;
};

/// Router upstream of the Node-B that advertises a window φ by GWA (Generalized Window Advertising). φ is the receive
/// window that each flow may use at this router. It arrives with the packets that the router forwards.
class UpstreamRouter {
 public:
  /// Returns the receive window φ that the router advertises to each of `flows` ≥ 1 flows, as received until `now`.
  /// `now` must not decrease.
  [[nodiscard]] virtual Bytes window(double flows, Instant now) = 0;

 protected:
  ~UpstreamRouter() = default;
};

/// Configuration of a Node-B's reports: contents and times.
struct ReporterConfig {
  Duration period = std::chrono::milliseconds(5);  ///< period of the reports (Ts), > 0

  /// Threshold of early reports, as a share of the UE's mean service rate. A UE with data is reported early if its rate
  /// over a quarter of the period differs from the mean by more than this share. At most one early report of a UE is
  /// sent per period. Typical: 0.5; 0: no early reports.
  double sharp_change = 0;
  /// Longest interval between reports of an unchanged UE, rounded down to whole periods. Used if the receiver of the
  /// reports accepts that unchanged UEs are omitted in between. 0: all UEs are reported every period.
  Duration refresh{};
  /// Smoothing factor α of the mean service rate, 0 <= α < 1. At each report of a UE the mean becomes α · mean + (1 −
  /// α) · latest rate. If the queue is empty, the mean can only rise.
  double mean_alpha = 0.85;

  /// Time without transmission after which a backlogged UE is reported as in outage.
  Duration outage_after = std::chrono::milliseconds(100);
  /// Parameters of the SMVS controller, which computes at the Node-B how many bytes the proxy may send (an allowance).
  /// Its step must equal the period of the reports. If absent, reports contain no allowance.
  std::optional<control::SmvsParameters> law;
  /// Parameters of the queue price of the control law CLAMP, a measure of congestion. If present, the price is computed
  /// and reported.
  std::optional<control::ClampPriceParameters> price = std::nullopt;
  /// Buffer size B for GWA (Generalized Window Advertising), used if the radio queue has no limit. If present, the
  /// reports contain the receive window φ that each flow of the UE may use.
  std::optional<Bytes> advertised_buffer = std::nullopt;
  /// Router upstream of the Node-B that also advertises a receive window by GWA (Generalized Window Advertising). The
  /// smaller window is reported. The router must outlive the reporter. Null: only the Node-B's own window is reported.
  UpstreamRouter* upstream = nullptr;
  /// Sender id of this Node-B. Status messages confirm reports. The reporter ignores confirmations of another Node-B's
  /// reports, because it knows only the allowances (bytes that the proxy may send) in its own reports. 0: it uses the
  /// confirmations of all status messages.
  std::uint64_t sender = 0;
};

/// Sends the Node-B's reports about its radio queues to the proxy. All UEs are reported every Ts (`period`) and when
/// the proxy requests it. A single UE is also reported when its service rate changes sharply.
///
/// If so configured, the reporter runs the SMVS controller, which computes the bytes that the proxy may send (the
/// allowance). The controller needs the bytes in flight, which the proxy's status messages contain. The reporter also
/// computes CLAMP's price at every arrival, and GWA's window: the free buffer divided by the number of flows.
///
/// A UE that goes to another Node-B is reported in state handover; bytes forwarded to that Node-B still count as
/// queued. Its allowance is 0 if the handover forwards no packets. After at least one such report, its reports stop. A
/// UE that comes from another Node-B is reported from then on, with new counters and a new controller. Thread: the
/// event loop's.
class Reporter final : public EventTarget, private ArrivalObserver, private PresenceObserver {
 public:
  /// Creates a reporter that is stopped. All UEs of the cell must be added before. Throws std::invalid_argument if the
  /// configuration is out of range.
  Reporter(EventLoop& loop, Cell& cell, const ReporterConfig& config, ReportSink& sink);
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  /// Starts the reports; the first is sent one period after `now`.
  void start(Instant now);
  void stop() { running_ = false; }
  /// Handles a status message of the proxy about one bearer. The message must be authenticated. Bearers of other cells
  /// are ignored.
  void on_status(const control::feedback::BearerStatus& status, Instant now);
  /// Handles the proxy's request for reports of all UEs. Has no effect if all were reported at this instant.
  void on_poll(Instant now);
  /// Handles a restart of the sequence numbers of reports. Allowances (bytes that the proxy may send) already sent no
  /// longer count as in flight, and the next report contains all UEs.
  void on_sink_restart();

  /// Sends the periodic reports or checks for sharp changes. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the state of the SMVS controller of a UE, for logs and plots. Null if the Node-B has no controller or the
  /// UE is at another Node-B.
  [[nodiscard]] const control::SmvsState* law(UeIndex ue) const;
  /// Returns the number of reports sent, of all UEs together.
  [[nodiscard]] std::uint64_t reports() const { return reports_; }
  /// Returns how many of the reports were sent before the end of a report period, because a service rate changed
  /// sharply or the proxy polled.
  [[nodiscard]] std::uint64_t early_reports() const { return early_; }

 private:
  /// Value of a queue's counter of transmitted bytes, and the time at which it was read.
  struct Mark {
    Instant at{};
    std::uint64_t transmitted = 0;
  };
  /// State of the Node-B's reports about one UE.
  struct Bearer {
    std::optional<control::Smvs> law;
    std::optional<control::OutstandingGrants> outstanding;
    std::optional<control::ClampPriceAgent> price;
    Mark reported;         ///< the queue's transmitted-bytes counter at the last report
    Mark checked;          ///< the queue's transmitted-bytes counter at the last report or check for sharp change
    Instant progressed{};  ///< time at which the queue last transmitted something or was empty
    bool reported_early = false;  ///< true after an early report in this period
    Rate rate;                    ///< service rate between the last two reports
    double mean = 0;              ///< mean service rate, bytes per second
    bool mean_known = false;      ///< true once a mean service rate has been measured
    /// Fraction of a byte by which the last allowance (bytes that the proxy may send) was rounded down; it is added to
    /// the next one.
    double fraction = 0;
    std::uint32_t active_flows = 0;  ///< active flows of the UE, as the proxy's latest status message states
    /// Values of the queue's counters when the UE came to this Node-B; reports contain the differences to them.
    QueueCounters since;
    bool reported_here = false;  ///< true if the last report stated that this Node-B serves the UE (radio state normal)

    /// Last report of this UE that was sent, with the values that the proxy decodes from it. Set only if unchanged UEs
    /// may be omitted.
    std::optional<control::feedback::BearerReport> sent;
  };

  void on_arrival(UeIndex ue, Instant now) override;
  void on_presence(UeIndex ue, bool here, Instant now) override;
  /// True if the UE must be reported: this Node-B serves it, or has not reported yet that the UE has left.
  [[nodiscard]] bool has_news(UeIndex ue) const { return cell_.here(ue) || bearers_[ue].reported_here; }
  /// Starts the measurements of a UE at `now`.
  void begin(UeIndex ue, Instant now);
  /// Returns the bytes queued for the UE at this Node-B, plus those that it has forwarded to another Node-B since the
  /// UE came. Padding of radio frames is included.
  [[nodiscard]] Bytes waiting(UeIndex ue) const;
  /// Returns the receive window that GWA (Generalized Window Advertising) gives to each flow of a bearer.
  [[nodiscard]] Bytes advertise(const Bearer& bearer, const UeQueue& queue, Instant now) const;
  [[nodiscard]] double flows_of_all() const;
  /// Schedules the event at which the UEs are reported next, or their service rates are checked for sharp changes.
  void set_next();
  /// Sends the periodic report of all UEs.
  void report_all(Instant now);
  /// Sends early reports of the UEs whose service rate changed sharply.
  void report_changes(Instant now);
  /// Makes reports of the UEs for which `is_selected` returns true. Puts them into `batch_` (the reports that are sent
  /// together) in place of earlier ones.
  template <typename Predicate>
  void gather_early(Instant now, Predicate is_selected);
  /// Sends the collected reports before the end of the report period, and counts them as early reports.
  void send_early(Instant now);
  /// True if the UE has data and its service rate since the last check differs from the mean rate by more than
  /// ReporterConfig::sharp_change. False if the UE was already reported early in this period.
  [[nodiscard]] bool changed_sharply(UeIndex ue, Instant now);
  /// Updates a bearer's service rate and mean service rate.
  void measure(Bearer& bearer, const UeQueue& queue, Instant now);
  /// Measures the rates of a UE and returns its report.
  [[nodiscard]] control::feedback::BearerReport describe(UeIndex ue, Instant now);
  /// True if unchanged UEs are omitted.
  [[nodiscard]] bool omits_unchanged() const;
  [[nodiscard]] bool is_due(UeIndex ue, const control::feedback::BearerReport& report) const;
  /// Adds a report to `batch_`, the reports that are sent together. Records the report's allowance (bytes that the
  /// proxy may send) with the sequence number that the report will have.
  void add(UeIndex ue, const control::feedback::BearerReport& report, Instant now);
  /// Sends the reports of `batch_`; unchanged UEs may be omitted if the sink accepts it.
  void send_batch(Instant now);
  /// Runs one step of a bearer's SMVS controller, for which `waiting` bytes count as queued. Returns the allowance: the
  /// IP bytes that the proxy may send.
  [[nodiscard]] Bytes allowance(Bearer& bearer, const UeQueue& queue, Bytes waiting, Instant now);

  EventLoop& loop_;
  Cell& cell_;
  ReporterConfig config_;
  ReportSink& sink_;
  std::vector<Bearer> bearers_;
  std::vector<control::feedback::BearerReport> batch_;
  /// Number of UEs with data in their queue. Each report in `batch_` contains it.
  std::uint32_t active_users_ = 0;
  Instant all_reported_{};  ///< time at which all UEs were last reported together
  bool running_ = false;
  Instant started_{};
  std::uint64_t tick_ = 0;        ///< time of the pending event, in quarters of the report period since start()
  std::uint64_t generation_ = 0;  ///< number of start() calls; events that an earlier call scheduled are ignored
  std::uint64_t rounds_ = 0;      ///< number of periodic reports so far
  std::uint64_t reports_ = 0;
  std::uint64_t early_ = 0;
};

}  // namespace sluice::emulator

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/clamp_price.hpp"
#include "control/feedback/report.hpp"
#include "control/grant_ledger.hpp"
#include "control/smvs.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// Where reports go: the feedback endpoint, or a wire of the virtual-time network.
class ReportSink {
 public:
  /// The sequence number under which the reports of the next send() go out.
  [[nodiscard]] virtual std::uint64_t next_sequence() const = 0;
  virtual void send(std::span<const control::feedback::BearerReport> reports, Instant now) = 0;
  /// Whoever hears the reports knows what it means that a UE is left out of them.
  [[nodiscard]] virtual bool may_leave_out() const { return false; }
  /// Like send(), where UEs may be left out of which nothing has changed; each is reported at least every `refresh`.
  virtual void send_changes(std::span<const control::feedback::BearerReport> reports, Duration /*refresh*/,
                            Instant now) {
    send(reports, now);
  }

 protected:
  ~ReportSink() = default;
};

/// The router before the Node-B, where it advertises: GWA's φ comes along with what it forwards.
class UpstreamRouter {
 public:
  /// φ for each of `flows` (at least 1), as it has come by `now`, which never goes back.
  [[nodiscard]] virtual Bytes window(double flows, Instant now) = 0;

 protected:
  ~UpstreamRouter() = default;
};

struct ReporterConfig {
  Duration period = std::chrono::milliseconds(5);  ///< Ts, > 0
  /// Also reports when a backlogged UE's service rate over a quarter of the period is off its running mean by more than
  /// this part of the mean, at most once a period; 0 = only every period. Typical: 0.5.
  double sharp_change = 0;
  /// UEs of which nothing has changed are left out where the sink may, but each is reported so often at least: at every
  /// so manieth period. 0: all are reported every period.
  Duration refresh{};
  double mean_alpha = 0.85;  ///< weight of the past in the mean service rate that is reported, 0 <= alpha < 1
  /// A backlogged UE that was carried nothing for so long is reported as in outage.
  Duration outage_after = std::chrono::milliseconds(100);
  /// The law, where the Node-B computes the allowance; `step` must equal `period`. Absent: the report has none.
  std::optional<control::SmvsParameters> law;
  /// CLAMP's price of the queue is computed and reported.
  std::optional<control::ClampPriceParameters> price = std::nullopt;
  /// GWA's φ is reported, with this B where the queue is unlimited.
  std::optional<Bytes> advertised_buffer = std::nullopt;
  UpstreamRouter* upstream = nullptr;  ///< outlives the reporter; null: no φ comes, the Node-B's own is reported
  /// The Node-B's sender id. A status that answers the reports of another Node-B says nothing of what was granted here;
  /// 0: they are not told apart.
  std::uint64_t sender = 0;
};

/// The Node-B's reports on its radio queues: every Ts and when polled, of all UEs, and on sharp change. Computes the
/// SMVS allowance where configured, with what the proxy's statuses say is under way; likewise CLAMP's price, from every
/// arrival, and what GWA advertises: the free buffer, shared by the flows that the proxy counts.
///
/// Of a UE that goes to another Node-B it reports the state (handover), and as waiting also what was handed on, since
/// that waits over there, and grants nothing where what comes would be lost; then that it is gone, once at least, and
/// then nothing more. Of a UE that comes from another one it reports from then on, with counters and laws that begin
/// with it.
class Reporter final : public EventTarget, private ArrivalObserver, private PresenceObserver {
 public:
  /// Throws std::invalid_argument when the configuration is out of range. Add the cell's UEs first.
  Reporter(EventLoop& loop, Cell& cell, const ReporterConfig& config, ReportSink& sink);
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  /// Begins; the first report goes out one period after `now`.
  void start(Instant now);
  void stop() { running_ = false; }
  /// The proxy's word on one bearer; already authenticated. Bearers of other cells are ignored.
  void on_status(const control::feedback::BearerStatus& status, Instant now);
  /// The proxy wants to hear of all UEs at once. What went out at this very instant answers it.
  void on_poll(Instant now);
  /// The sink's sequence numbers begin anew.
  void on_sink_restart();

  void on_event(std::uint64_t tag, Instant now) override;

  /// State of a UE's law, for logs and plots; null where the Node-B computes none, or the UE is with another one.
  [[nodiscard]] const control::SmvsState* law(UeIndex ue) const;
  [[nodiscard]] std::uint64_t reports() const { return reports_; }      ///< sent, of all UEs together
  [[nodiscard]] std::uint64_t early_reports() const { return early_; }  ///< of these, for sharp change, or polled

 private:
  /// A queue's counter at an instant.
  struct Mark {
    Instant at{};
    std::uint64_t transmitted = 0;
  };
  struct Bearer {
    std::optional<control::Smvs> law;
    std::optional<control::GrantLedger> ledger;
    std::optional<control::ClampPriceAgent> price;
    Mark reported;                ///< at the last report
    Mark checked;                 ///< at the last report or check for sharp change
    Instant progressed{};         ///< when it last was carried something, or had nothing waiting
    bool reported_early = false;  ///< in this period
    Rate rate;                    ///< over the time before the last report
    double mean = 0;              ///< bytes per second
    bool mean_known = false;
    double fraction = 0;  ///< of a byte of allowance, carried to the next report
    std::uint32_t active_flows = 0;
    QueueCounters since;                                  ///< counters when it came: those reported begin there
    bool believed_here = false;                           ///< the last report said nothing else
    std::optional<control::feedback::BearerReport> sent;  ///< the last, where later ones may be left out
  };

  void on_arrival(UeIndex ue, Instant now) override;
  void on_presence(UeIndex ue, bool here, Instant now) override;
  [[nodiscard]] bool has_news(UeIndex ue) const { return cell_.here(ue) || bearers_[ue].believed_here; }
  void begin(UeIndex ue, Instant now);
  /// What waits for the UE, here and where it was handed on to.
  [[nodiscard]] Bytes waiting(UeIndex ue) const;
  [[nodiscard]] Bytes advertise(const Bearer& bearer, const UeQueue& queue, Instant now) const;
  [[nodiscard]] double flows_of_all() const;
  void set_next();
  void report_all(Instant now);
  void report_changes(Instant now);
  template <typename Wanted>
  void gather_early(Instant now, Wanted wanted);
  void send_early(Instant now);
  [[nodiscard]] bool changed_sharply(UeIndex ue, Instant now);
  void measure(Bearer& bearer, const UeQueue& queue, Instant now);
  [[nodiscard]] control::feedback::BearerReport describe(UeIndex ue, Instant now);
  [[nodiscard]] bool leaves_out() const;
  [[nodiscard]] bool is_due(UeIndex ue, const control::feedback::BearerReport& report) const;
  void add(UeIndex ue, const control::feedback::BearerReport& report, Instant now);
  void send_batch(Instant now);
  [[nodiscard]] Bytes allowance(Bearer& bearer, const UeQueue& queue, Bytes waiting, Instant now);

  EventLoop& loop_;
  Cell& cell_;
  ReporterConfig config_;
  ReportSink& sink_;
  std::vector<Bearer> bearers_;
  std::vector<control::feedback::BearerReport> batch_;
  std::uint32_t active_users_ = 0;  ///< of the batch
  Instant all_reported_{};          ///< when all UEs were last reported
  bool running_ = false;
  Instant started_{};
  std::uint64_t tick_ = 0;        ///< the one that is set, in quarters of the period since started_
  std::uint64_t generation_ = 0;  ///< so that events of an earlier start() are void
  std::uint64_t rounds_ = 0;      ///< reports of all UEs
  std::uint64_t reports_ = 0;
  std::uint64_t early_ = 0;
};

}  // namespace sluice::emulator

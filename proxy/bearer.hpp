#pragma once

#include <cstdint>
#include <optional>

#include "control/fallback.hpp"
#include "control/feedback/report.hpp"
#include "control/in_flight.hpp"
#include "control/smvs.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flow.hpp"
#include "proxy/report_arrival.hpp"
#include "proxy/shard_config.hpp"

namespace sluice::proxy {

/// All connections of one UE: they share one radio queue, so the law runs here and its allowance is theirs together.
/// Thread: its shard's.
class Bearer {
 public:
  enum class Verdict : std::uint8_t {
    stale,    ///< older than what was applied: ignored
    applied,  ///< the allowance is new
  };

  Bearer(const ShardConfig& config, const IpAddress& ue);

  [[nodiscard]] const IpAddress& ue() const { return ue_; }

  /// IP bytes that were just handed to the radio port for this UE, whatever they were. `data`: part of the allowance.
  void injected(Instant now, Bytes bytes) { in_flight_.injected(now, bytes); }

  /// Applies a report: runs the law, or takes the Node-B's allowance. What is left of the last allowance is forfeited
  /// but for the fraction of a packet that could not be sent.
  Verdict on_report(const ReportArrival& report, Instant now);

  /// Looks at the time: bridges a report that is missing with one more step at the mean rate, and gives up steering
  /// when reports are late. True when flows may send because of it or must change their window source.
  bool on_deadline(Instant now);
  [[nodiscard]] Instant deadline() const;

  /// Who decides what the radio leg sends right now. Always congestion_control outside a window-controlled mode.
  [[nodiscard]] tcp::WindowSource window_source() const;
  /// What the radio leg may send now; Bytes::max() under congestion control.
  [[nodiscard]] Bytes allowance() const;
  void spend(Bytes bytes);
  /// What was granted at the last step; for observers.
  [[nodiscard]] Bytes granted() const { return granted_; }

  /// The window that congestion control starts from when steering is given up.
  [[nodiscard]] Bytes seed_window(Duration srtt) const { return fallback_.seed_window(srtt); }
  /// Mean rate of the radio link: the law's own where it runs here, else the Node-B's; zero when unknown.
  [[nodiscard]] Rate mean_rate() const;
  /// By how much the radio queue will differ from the reference of SMVS, as of the last report.
  [[nodiscard]] Bytes radio_error() const { return radio_error_; }

  [[nodiscard]] control::feedback::BearerStatus status(Bytes backlog) const;
  [[nodiscard]] const control::feedback::BearerReport& last_report() const { return last_.bearer; }
  [[nodiscard]] bool reported() const { return reported_; }
  [[nodiscard]] Instant last_report_time() const { return report_time_; }
  [[nodiscard]] std::uint64_t falls() const { return fallback_.falls(); }
  [[nodiscard]] const control::Smvs* law() const { return law_ ? &*law_ : nullptr; }

  /// The bearer's flows: a ring through Flow::bearer_next, entered at the flow that was served least recently.
  FlowId first_flow = no_id;
  std::uint32_t flow_count = 0;
  Instant wheel_deadline = never;      ///< when the timer wheel will look at it
  Bytes backlog{};                     ///< kept by the shard: unsent bytes of all flows at the last service
  std::uint32_t backlogged_flows = 0;  ///< … and how many have any
  bool status_changed = true;
  Bytes exposed{};        ///< of all flows, both ways: acknowledged and not delivered; kept where it is capped
  bool used = false;      ///< had a split connection: what was learned is kept for a while when its last flow goes
  Instant empty_since{};  ///< when its last flow went

 private:
  void grant(Bytes allowance);
  Bytes granted_in_advance(const ReportArrival& report);
  Bytes run_law(const ReportArrival& report, Bytes in_flight, Instant now);

  const ShardConfig* config_;
  IpAddress ue_;
  control::Fallback fallback_;
  control::InFlight in_flight_;
  std::optional<control::Smvs> law_;
  ReportArrival last_{};
  Instant report_time_{};
  Instant bridge_at_ = never;
  std::uint64_t applied_sequence_ = 0;
  Bytes allowance_{};
  Bytes granted_{};
  Bytes radio_error_{};
  std::uint64_t bridges_ = 0;  ///< since the newest report
  bool reported_ = false;
};

}  // namespace sluice::proxy

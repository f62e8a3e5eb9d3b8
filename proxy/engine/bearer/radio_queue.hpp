#pragma once

#include <cstdint>
#include <optional>

#include "control/feedback/report.hpp"
#include "control/smvs/windowed_range.hpp"
#include "control/window_laws/clamp_price.hpp"
#include "control/window_laws/gwa.hpp"
#include "control/window_laws/queue_view.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/policy/policy_settings.hpp"

namespace sluice::proxy {

/// Radio queue of a UE, as per-flow window controllers need it: reported length and rates, how many sent bytes have
/// reached and left the queue, and how many flows share it. Thread: the shard's.
class RadioQueue {
 public:
  /// Starts with an empty queue. `settings` outlives it.
  explicit RadioQueue(const PolicySettings& settings);

  /// Copies the rates that another bearer of this UE has measured. Also copies the byte positions if `same_path` is
  /// true, which means that both bearers have equal one-way delays to the Node-B.
  void inherit(const RadioQueue& before, bool same_path);
  /// Restarts after a handover to another Node-B. `dropped` is the current value of its cumulative drop counter.
  void restart(std::uint64_t dropped);
  /// Updates the view of the queue from a Node-B report. `sent_total`: IP bytes sent so far; `bytes_in_flight` of them
  /// have not reached the queue.
  void on_report(const control::feedback::BearerReport& queue, std::uint64_t sent_total, Bytes bytes_in_flight,
                 Instant now);

  /// Returns the radio queue as of the last Node-B report, with the number of flows at `now`.
  [[nodiscard]] const control::QueueView& view(Instant now);
  /// Returns the number of Node-B reports applied; a flow compares it to detect a newer one.
  [[nodiscard]] std::uint32_t reports() const { return reports_; }
  /// Returns how many of the IP bytes sent towards the radio had reached the radio queue at the last Node-B report.
  [[nodiscard]] std::uint64_t arrived_total() const { return arrived_total_; }
  /// Returns how many of the IP bytes sent towards the radio had left the radio queue at the last Node-B report.
  [[nodiscard]] std::uint64_t left_total() const { return left_total_; }
  /// Records a packet of a flow, which makes it one of the N active flows of the law GWA. `taken` is the number of the
  /// flow's bytes that left over the link since its last packet.
  void seen(Instant now, control::GwaFlowCount::Mark& mark, Bytes taken) {
    count_.seen(now, mark, taken, view_.best_rate);
    counted_ = never;
  }
  /// Removes a flow that has ended from the count N of active flows.
  void left(control::GwaFlowCount::Mark& mark) {
    count_.left(mark);
    counted_ = never;
  }

 private:
  /// Sets the price of the law CLAMP from the Node-B report, or computes it.
  void find_price(const control::feedback::BearerReport& queue, Instant now);

  const PolicySettings* settings_;
  std::optional<control::ClampPriceAgent> price_;  ///< CLAMP price agent, used if the Node-B reports no price
  control::GwaFlowCount count_;                    ///< estimator of the number of active flows N (GWA's eq. 9)
  /// Time at which the active flows were last counted; `never` if the count is outdated.
  Instant counted_ = never;
  control::QueueView view_;
  control::WindowedRange rates_;  ///< service rate, bytes/s
  /// Cumulative IP bytes that had reached the radio queue at the last Node-B report.
  std::uint64_t arrived_total_ = 0;
  std::uint64_t left_total_ = 0;
  std::uint64_t dropped_ = 0;  ///< cumulative drop counter of the Node-B at the last report
  std::uint32_t reports_ = 0;
};

}  // namespace sluice::proxy

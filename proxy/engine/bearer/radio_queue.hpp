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

/// State of a UE's radio queue that per-flow window controllers need. It contains the reported queue length and rates,
/// how many sent bytes have reached and left the queue, and how many flows share it. Thread: the shard's.
class RadioQueue {
 public:
  /// Creates the state of a queue of which no Node-B report has arrived. `settings` must outlive the object.
  explicit RadioQueue(const PolicySettings& settings);

  /// Copies the rates that another bearer of this UE has measured. If `same_path` is true, also copies the numbers of
  /// bytes that have reached and left the queue. `same_path` means that both bearers have the same one-way delay to the
  /// Node-B.
  void inherit(const RadioQueue& before, bool same_path);
  /// Discards the measured rates after a handover, because the new Node-B's queue is another one. `dropped` is the
  /// current value of the new Node-B's cumulative drop counter.
  void restart(std::uint64_t dropped);
  /// Updates the state from a Node-B report. `sent_total` is the number of IP bytes sent so far. `bytes_in_flight` of
  /// them have not reached the queue yet.
  void on_report(const control::feedback::BearerReport& queue, std::uint64_t sent_total, Bytes bytes_in_flight,
                 Instant now);

  /// Returns the state of the radio queue according to the last Node-B report, with the number of active flows at
  /// `now`.
  [[nodiscard]] const control::QueueView& view(Instant now);
  /// Returns the number of Node-B reports applied so far. A flow stores this number and so detects later that a new
  /// report was applied.
  [[nodiscard]] std::uint32_t reports() const { return reports_; }
  /// Returns how many of the IP bytes sent towards the UE had reached the radio queue at the time of the last Node-B
  /// report.
  [[nodiscard]] std::uint64_t arrived_total() const { return arrived_total_; }
  /// Returns how many of the IP bytes sent towards the UE had left the radio queue at the time of the last Node-B
  /// report.
  [[nodiscard]] std::uint64_t left_total() const { return left_total_; }
  /// Records an ACK of a flow. The flow then counts as one of the N active flows that share the queue. `mark` is the
  /// flow's state in that count. `taken` is the number of bytes that the ACK newly acknowledges, which have left the
  /// queue.
  void seen(Instant now, control::GwaFlowCount::Mark& mark, Bytes taken) {
    count_.seen(now, mark, taken, view_.best_rate);
    counted_ = never;
  }
  /// Removes a flow that has ended from the count of the N active flows. `mark` is the flow's state in that count.
  void left(control::GwaFlowCount::Mark& mark) {
    count_.left(mark);
    counted_ = never;
  }

 private:
  /// Sets the congestion price that CLAMP (a per-flow window controller) uses: the price in the Node-B report, or else
  /// the price that this object computes from the queue length.
  void find_price(const control::feedback::BearerReport& queue, Instant now);

  const PolicySettings* settings_;
  std::optional<control::ClampPriceAgent> price_;  ///< computes the congestion price of CLAMP if the Node-B reports
                                                   ///< none
  control::GwaFlowCount count_;                    ///< estimator of the number N of active flows (Generalized Window
                                                   ///< Advertising, eq. 9)
  /// time at which the active flows were last counted; `never` if they must be counted again
  Instant counted_ = never;
  control::QueueView view_;
  /// Range of the service rates in bytes/s that Node-B reports of the last second contain. Per-flow window controllers
  /// use its maximum as the best rate of the link.
  control::WindowedRange rates_;
  /// Total number of IP bytes that had reached the radio queue when the Node-B sent its last report.
  std::uint64_t arrived_total_ = 0;
  std::uint64_t left_total_ = 0;
  std::uint64_t dropped_ = 0;  ///< value of the Node-B's cumulative drop counter in the last report
  std::uint32_t reports_ = 0;
};

}  // namespace sluice::proxy

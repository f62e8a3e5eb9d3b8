#pragma once

#include <cstdint>
#include <optional>

#include "control/clamp_price.hpp"
#include "control/feedback/report.hpp"
#include "control/gwa.hpp"
#include "control/queue_view.hpp"
#include "control/sliding_extremes.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/policy/treatment.hpp"

namespace sluice::proxy {

/// A UE's radio queue as a law of windows is told of it: what the reports say, how far the bytes that were sent have
/// come, and how many flows share it. Thread: the shard's.
class RadioQueue {
 public:
  /// `treatment` outlives it.
  explicit RadioQueue(const Treatment& treatment);

  /// Goes on from what another bearer of the same UE knows. `same_path`: it counts bytes on the way to the Node-B
  /// alike.
  void inherit(const RadioQueue& before, bool same_path);
  /// The UE is with another Node-B, which has dropped so many bytes before.
  void restart(std::uint64_t dropped);
  /// A report has come, when `sent_total` bytes had been sent of which `under_way` have not reached the queue.
  void on_report(const control::feedback::BearerReport& queue, std::uint64_t sent_total, Bytes under_way, Instant now);

  [[nodiscard]] const control::QueueView& view(Instant now);
  /// Reports taken so far; a flow looks whether there is a newer one.
  [[nodiscard]] std::uint32_t reports() const { return reports_; }
  /// Of the IP bytes sent towards the radio, how many have reached and have left the queue as of the last report.
  [[nodiscard]] std::uint64_t arrived_total() const { return arrived_total_; }
  [[nodiscard]] std::uint64_t left_total() const { return left_total_; }
  /// A packet of a flow passed, which has taken so much of the link since: it counts as one of N.
  void seen(Instant now, control::GwaFlowCount::Mark& mark, Bytes taken) {
    count_.seen(now, mark, taken, view_.best_rate);
    counted_ = never;
  }
  /// A flow has ended.
  void left(control::GwaFlowCount::Mark& mark) {
    count_.left(mark);
    counted_ = never;
  }

 private:
  void find_price(const control::feedback::BearerReport& queue, Instant now);

  const Treatment* treatment_;
  std::optional<control::ClampPriceAgent> price_;  ///< where the Node-B tells no price
  control::GwaFlowCount count_;                    ///< N
  Instant counted_ = never;                        ///< when it was counted, where that still holds
  control::QueueView view_;
  control::SlidingExtremes rates_;  ///< service rate, bytes/s
  std::uint64_t arrived_total_ = 0;
  std::uint64_t left_total_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint32_t reports_ = 0;
};

}  // namespace sluice::proxy

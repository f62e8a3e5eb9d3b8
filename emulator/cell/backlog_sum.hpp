#pragma once

#include <cstdint>
#include <vector>

#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/ue_queue.hpp"

namespace sluice::emulator {

/// Sum of the backlogs of all radio queues of a cell, updated incrementally. Measurements read the sum every
/// millisecond, and few queues change between two readings. Each queue reports when it changes, and only the changed
/// queues are counted again.
class BacklogSum {
 public:
  BacklogSum() = default;
  BacklogSum(const BacklogSum&) = delete;
  BacklogSum& operator=(const BacklogSum&) = delete;

  /// Adds an empty queue to the sum. The queue must not move in memory, and must not change after this object is
  /// destroyed.
  void add(UeQueue& queue) {
    queue.report_change_to(changed_, static_cast<std::uint32_t>(shares_.size()));
    shares_.push_back({&queue, {}});
  }
  /// Returns the backlog of all queues. It first counts the changed queues again.
  [[nodiscard]] const Backlog& sum() {
    for (const std::uint32_t number : changed_) update_share(shares_[number]);
    changed_.clear();
    return sum_;
  }

 private:
  /// A queue and its present contribution to the sum.
  struct Share {
    UeQueue* queue;
    Backlog backlog;
  };
  /// Replaces a queue's contribution to the sum by its current backlog.
  void update_share(Share& share) {
    sum_ -= share.backlog;
    share.backlog = {};
    share.backlog.add(share.queue->air_bytes(), share.queue->frames_or_packets(), share.queue->short_head());
    sum_ += share.backlog;
    share.queue->record_counted();
  }

  std::vector<Share> shares_;           ///< all queues, by number
  std::vector<std::uint32_t> changed_;  ///< numbers of the queues that changed since the last reading
  Backlog sum_;  ///< sum of all backlogs; exact, because a `double` adds whole numbers of frames without rounding
};

}  // namespace sluice::emulator

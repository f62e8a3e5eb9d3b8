#pragma once

#include <cstdint>
#include <vector>

#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/ue_queue.hpp"

namespace sluice::emulator {

/// What waits in all radio queues of a cell, kept as a sum: who measures asks every millisecond, and in most of them
/// one queue has changed, or none. Queues say so themselves, and only those are counted anew.
class BacklogSum {
 public:
  BacklogSum() = default;
  BacklogSum(const BacklogSum&) = delete;
  BacklogSum& operator=(const BacklogSum&) = delete;

  /// One queue more, which is empty. It stays where it is, and is used no longer than this.
  void add(UeQueue& queue) {
    queue.report_change_to(changed_, static_cast<std::uint32_t>(shares_.size()));
    shares_.push_back({&queue, {}});
  }
  [[nodiscard]] const Backlog& sum() {
    for (const std::uint32_t number : changed_) count_anew(shares_[number]);
    changed_.clear();
    return sum_;
  }

 private:
  /// A queue, and what it has in the sum.
  struct Share {
    UeQueue* queue;
    Backlog backlog;
  };
  void count_anew(Share& share) {
    sum_ -= share.backlog;
    share.backlog = {};
    share.backlog.add(share.queue->air_bytes(), share.queue->frames_or_packets(), share.queue->short_head());
    sum_ += share.backlog;
    share.queue->note_counted();
  }

  std::vector<Share> shares_;
  std::vector<std::uint32_t> changed_;  ///< numbers of the queues that are to be counted anew
  Backlog sum_;                         ///< frames are whole numbers: nothing is lost by taking away and adding
};

}  // namespace sluice::emulator

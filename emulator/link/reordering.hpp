#pragma once

#include <cstdint>
#include <deque>

#include "dataplane/units/time.hpp"

namespace sluice::emulator::link {

/// Parameters of the reordering queue.
struct ReorderingParameters {
  std::uint32_t window = 64;                             ///< largest number of blocks held out of order, 1 … 4096
  Duration stall_timer = std::chrono::milliseconds(25);  ///< T1: longest time a gap delays the blocks behind it, > 0
};

/// Reordering queue of MAC-hs (TS 25.321 section 11.6.2). It releases blocks in the order of their transmission
/// sequence numbers. A gap delays the blocks after it until the stall timer expires, or until a block arrives that is
/// beyond the reordering window. Then the missing blocks count as lost. Pure: the owner reads deadline() and calls
/// expire(). `Decide` is called as decide(tsn, received) once for every number, in order.
class ReorderingBuffer {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if a parameter is out of its range.
  explicit ReorderingBuffer(const ReorderingParameters& parameters);

  /// Handles the arrival of the block with the transmission sequence number `tsn`. A block that already counts as lost
  /// is ignored.
  template <typename Decide>
  void received(std::uint64_t tsn, Instant now, Decide&& decide) {
    if (!record(tsn)) return;
    while (span() > parameters_.window) release(decide);  // the window moves, so blocks behind it count as lost
    release_in_order(decide);
    watch(now);
  }
  /// Handles an RLC poll, by which the sender informs the receiver that hybrid ARQ has given up block `tsn`. Block
  /// `tsn` and all blocks before it are released.
  template <typename Decide>
  void given_up(std::uint64_t tsn, Instant now, Decide&& decide) {
    while (next_ <= tsn) release(decide);
    release_in_order(decide);
    watch(now);
  }
  /// Handles the expiry of the stall timer of the reordering queue; call it at deadline().
  template <typename Decide>
  void expire(Instant now, Decide&& decide) {
    if (now < deadline_) return;
    deadline_ = never;
    while (next_ < stalled_) release(decide);
    release_in_order(decide);
    watch(now);
  }
  /// Returns when the stall timer expires; `never` if there is no gap.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// Returns the transmission sequence number that is expected next.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  /// Returns the number of blocks from the expected one to the one with the highest number received, both included.
  /// Returns 0 if no block waits.
  [[nodiscard]] std::size_t span() const { return arrived_.size(); }
  /// Records the arrival of the block with the transmission sequence number `tsn`. Returns false if it counts as lost
  /// already.
  bool record(std::uint64_t tsn);
  /// Starts the stall timer if blocks wait behind a gap and it is not running for that gap. Stops it if no blocks wait.
  void watch(Instant now);
  template <typename Decide>
  void release(Decide& decide) {
    bool here = false;
    if (!arrived_.empty()) {
      here = arrived_.front();
      arrived_.pop_front();
    }
    decide(next_++, here);
  }
  template <typename Decide>
  void release_in_order(Decide& decide) {
    while (!arrived_.empty() && arrived_.front()) release(decide);
  }

  ReorderingParameters parameters_;
  std::uint64_t next_ = 0;
  /// Entry i is true if the block with the number next_ + i was received. The last entry is always true.
  std::deque<bool> arrived_;
  Instant deadline_ = never;
  std::uint64_t stalled_ = 0;  ///< T1_TSN: highest number received when the stall timer was started
};

}  // namespace sluice::emulator::link

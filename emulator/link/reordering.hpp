#pragma once

#include <cstdint>
#include <deque>

#include "dataplane/units/time.hpp"

namespace sluice::emulator::link {

struct ReorderingParameters {
  std::uint32_t window = 64;                             ///< blocks held out of order, 1 … 4096
  Duration stall_timer = std::chrono::milliseconds(25);  ///< T1: how long a gap may hold up what came behind it, > 0
};

/// The reordering queue of MAC-hs (3GPP TS 25.321 section 11.6.2): hands blocks on in the order of their transmission
/// sequence numbers. A gap holds up what came behind it until the stall timer runs out or the window moves on; then the
/// missing blocks count as lost. Pure: whoever owns it asks for its deadline and calls expire(). `Decide` is called as
/// decide(tsn, received) once for every number, in order.
class ReorderingBuffer {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  explicit ReorderingBuffer(const ReorderingParameters& parameters);

  /// A block came. One that was counted as lost before is ignored.
  template <typename Decide>
  void received(std::uint64_t tsn, Instant now, Decide&& decide) {
    if (!note(tsn)) return;
    while (span() > parameters_.window) release(decide);  // the window moves: what is behind it will not come any more
    release_in_order(decide);
    watch(now);
  }
  /// The sender says that it has given this block up (its poll was answered): it is not waited for any longer.
  template <typename Decide>
  void given_up(std::uint64_t tsn, Instant now, Decide&& decide) {
    while (next_ <= tsn) release(decide);
    release_in_order(decide);
    watch(now);
  }
  /// The stall timer ran out: to be called at deadline().
  template <typename Decide>
  void expire(Instant now, Decide&& decide) {
    if (now < deadline_) return;
    deadline_ = never;
    while (next_ < stalled_) release(decide);
    release_in_order(decide);
    watch(now);
  }
  /// When the stall timer runs out; `never` while there is no gap.
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// The number that is waited for.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  [[nodiscard]] std::size_t span() const { return arrived_.size(); }
  bool note(std::uint64_t tsn);
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
  std::deque<bool> arrived_;  ///< from next_ on; the last one, if any, is true
  Instant deadline_ = never;
  std::uint64_t stalled_ = 0;  ///< T1_TSN: the highest number that had come when the timer was started
};

}  // namespace sluice::emulator::link

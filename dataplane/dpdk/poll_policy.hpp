#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

enum class PollMode : std::uint8_t {
  busy,     ///< never sleeps: a processor of its own
  adaptive  ///< sleeps once nothing has come in for a while: shares its processor
};

/// When a poll thread rests. In adaptive mode a thread spins for `spin` after the last packet, so that a burst pays no
/// wake-up. Then, if the kernel can tell when every one of its ports has something, it waits for that; if not (memif,
/// rings) it sleeps in steps of `step`: so late the first packet may be. Thread: the poll thread, but for wake() and
/// wake_if_asleep().
class PollPolicy {
 public:
  /// With what a wake-up costs besides, a packet waits 100 us at most.
  static constexpr Duration default_step = std::chrono::microseconds(60);
  static constexpr Duration default_spin = std::chrono::microseconds(30);

  explicit PollPolicy(PollMode mode, Duration step = default_step, Duration spin = default_spin);
  ~PollPolicy();
  PollPolicy(const PollPolicy&) = delete;
  PollPolicy& operator=(const PollPolicy&) = delete;

  /// Names a port the thread polls, by Port::readiness_descriptor(): -1 for one that the kernel knows nothing of.
  void watch(int descriptor);
  /// Once, in the poll thread: has the kernel end this thread's sleeps on time (timer slack 1 ns), and measures what a
  /// sleep costs if there will be many (takes some milliseconds).
  void prepare_thread();
  /// What part of a processor an idle thread takes for sleeping in steps; 0 where it waits for its ports instead. Known
  /// after prepare_thread().
  [[nodiscard]] double idle_share() const noexcept { return idle_share_; }

  /// After every round of polling. `worked`: packets came in or timers fired. `now`: read in this round. `deadline`:
  /// when the next timer is due. Returns whether it slept: `now` is stale then. Before the first sleep of a silence
  /// there is one more round: what others handed over before they could know that we sleep is found in it.
  bool rest(bool worked, Instant now, Instant deadline) noexcept {
    if (worked) {
      last_work_ = now;
      if (drowsy_) [[unlikely]]
        stay_awake();
    }
    if (mode_ == PollMode::busy || now - last_work_ < spin_) return false;
    return sleep(now, deadline);
  }

  /// Ends the thread's sleep, the present one or the next: there is something for it outside its ports. Any thread.
  void wake() noexcept;
  /// The same, for a thread that has just put something where this one looks in every round: costs nothing while this
  /// one is awake anyway.
  void wake_if_asleep() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // what was put there comes before the question
    if (asleep_.load(std::memory_order_relaxed)) wake();
  }

  [[nodiscard]] PollMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_; }

 private:
  bool sleep(Instant now, Instant deadline) noexcept;
  void stay_awake() noexcept;
  void take_wakeups() noexcept;

  PollMode mode_;
  bool blind_ports_ = false;  ///< some port cannot wake us
  bool drowsy_ = false;       ///< asleep_, as this thread knows it
  Duration step_;
  Duration spin_;
  double idle_share_ = 0;
  Instant last_work_{};
  std::uint64_t sleeps_ = 0;
  std::vector<pollfd> descriptors_;              ///< the first one is wake()'s
  alignas(64) std::atomic<bool> asleep_{false};  ///< others look at it
};

}  // namespace sluice::dpdk

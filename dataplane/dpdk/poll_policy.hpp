#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

enum class PollMode : std::uint8_t {
  busy,     ///< the poll thread never sleeps and needs a CPU of its own
  adaptive  ///< the poll thread sleeps when no packet has arrived for 30 to 120 µs, and can share its CPU
};

/// Decides when a poll thread sleeps. In adaptive mode a thread spins (polls without work) for some time after the last
/// packet, so that a burst causes no wake-up. At first the spin lasts for the constructor's argument `spin`. After a
/// sleep it is adapted to the length of the idle period, the time without work. If this period was at most
/// `longest_spin`, the spin doubles, up to `longest_spin`. It can then bridge the next such period, for example between
/// a request and its response. If the period was longer, the spin halves, down to `spin`. If another thread needs the
/// processor, the spin is `spin` again.
///
/// After the spin the thread waits for its ports if the kernel can signal packets on all of them. Otherwise (memif,
/// rings) it sleeps in steps of the argument `step`, which bounds the delay of the first packet. Thread: the poll
/// thread, except wake() and wake_if_asleep().
class PollPolicy {
 public:
  /// Default length of a step in which an idle thread sleeps in adaptive mode. Including the cost of a wake-up, a
  /// packet waits at most 100 µs.
  static constexpr Duration default_step = std::chrono::microseconds(60);
  static constexpr Duration default_spin = std::chrono::microseconds(30);
  /// Maximum time for which an idle thread still polls before it sleeps (spin), in adaptive mode. Packets at larger
  /// intervals cost a wake-up each.
  static constexpr Duration longest_spin = std::chrono::microseconds(120);

  explicit PollPolicy(PollMode mode, Duration step = default_step, Duration spin = default_spin);
  ~PollPolicy();
  PollPolicy(const PollPolicy&) = delete;
  PollPolicy& operator=(const PollPolicy&) = delete;

  /// Adds a port that the thread polls, by Port::readiness_descriptor(); -1 for a port whose packets the kernel cannot
  /// signal.
  void watch(int descriptor);
  /// Prepares the poll thread; called once in that thread. Sets the timer slack to 1 ns, so that sleeps end on time. If
  /// the kernel cannot signal the packets of some port, an idle thread sleeps in steps of the constructor's argument
  /// `step`. In this case also measures the cost of a sleep, which takes some milliseconds.
  void prepare_thread();
  /// Returns the share of a CPU that an idle thread uses because it wakes after every step (the constructor's argument
  /// `step`) to poll its ports. Returns 0 if the kernel signals packets, so that the thread waits for them. Valid after
  /// prepare_thread().
  [[nodiscard]] double idle_share() const noexcept { return idle_share_; }

  /// Called after every round of polling; sleeps if there was no work for a short time (the spin). `worked` is true if
  /// packets arrived or timers fired. `now` was read in this round. `deadline` is that of the next timer. Returns true
  /// if it slept; `now` is then outdated. Before the first sleep of an idle period, one more round is polled. It finds
  /// packets that other threads passed before they could detect that this thread sleeps.
  bool rest(bool worked, Instant now, Instant deadline) noexcept {
    if (worked) {
      if (asleep_copy_) [[unlikely]]
        stay_awake(now);
      last_work_ = now;
    }
    const Instant last_round = std::exchange(last_round_, now);
    if (mode_ == PollMode::busy || now - last_work_ < least_spin_) return false;
    if (now - last_work_ < spin_ && !was_displaced(last_round, now)) return false;
    return sleep(now, deadline);
  }

  /// Ends the current or the next sleep of the poll thread, because there is work outside its ports. Thread: any.
  void wake() noexcept;
  /// Wakes the poll thread if it sleeps. Called by a thread that has just stored work for the poll thread. The poll
  /// thread looks for such work in every round, so the call costs little while the poll thread is awake.
  void wake_if_asleep() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // orders the work passed before the check
    if (asleep_.load(std::memory_order_relaxed)) wake();
  }

  [[nodiscard]] PollMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_; }
  /// Returns how long the thread presently spins after the last packet. Adaptive mode only.
  [[nodiscard]] Duration spin() const noexcept { return spin_; }

 private:
  /// Longest duration of a round of polling that finds no work. If such a round takes longer, another thread had the
  /// processor meanwhile.
  static constexpr Duration longest_empty_round = std::chrono::microseconds(50);
  /// Time for which the spin is not lengthened after another thread has needed the processor. The spin is how long the
  /// thread polls without work before it sleeps.
  static constexpr Duration yielding = std::chrono::milliseconds(2);

  bool sleep(Instant now, Instant deadline) noexcept;
  void stay_awake(Instant now) noexcept;
  bool was_displaced(Instant last_round, Instant now) noexcept;
  void take_wakeups() noexcept;

  PollMode mode_;
  bool has_port_without_interrupt_ = false;  ///< true if the kernel cannot signal packets on some port
  /// Copy of asleep_ that only the poll thread reads: true from shortly before a sleep until the next work.
  bool asleep_copy_ = false;
  Duration step_;
  Duration least_spin_;
  Duration spin_;  ///< time that the thread presently spins after the last packet, least_spin_ to longest_spin
  double idle_share_ = 0;
  Instant last_work_{};
  Instant last_round_{};
  Instant yields_until_{};  ///< time until which the spin (polling without work before a sleep) is not lengthened
  std::uint64_t sleeps_ = 0;
  std::vector<pollfd> descriptors_;  ///< descriptors to wait for; the first one belongs to wake()
  /// True from shortly before a sleep until the next work, so that other threads wake this one.
  alignas(64) std::atomic<bool> asleep_{false};
};

}  // namespace sluice::dpdk

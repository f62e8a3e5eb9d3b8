#pragma once

#include <poll.h>

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
/// rings) it sleeps in steps of `step`. Where the machine's timers are so slow that such steps alone would take more
/// than a twentieth of the processor (virtual machines), the steps grow as far as needed after 100 ms of silence.
/// Thread: the poll thread, but for wake().
class PollPolicy {
 public:
  explicit PollPolicy(PollMode mode, Duration spin = std::chrono::microseconds(30),
                      Duration step = std::chrono::microseconds(55));
  ~PollPolicy();
  PollPolicy(const PollPolicy&) = delete;
  PollPolicy& operator=(const PollPolicy&) = delete;

  /// Names a port the thread polls, by Port::readiness_descriptor(): -1 for one that the kernel knows nothing of.
  void watch(int descriptor);
  /// Once, in the poll thread: has the kernel end this thread's sleeps on time (timer slack 1 ns), and measures what a
  /// sleep costs if there will be many (takes 5 ms).
  void prepare_thread();

  /// After every round of polling. `worked`: packets came in or timers fired. `now`: read in this round. `deadline`:
  /// when the next timer is due. Returns whether it slept: `now` is stale then.
  bool rest(bool worked, Instant now, Instant deadline) noexcept {
    if (worked) last_work_ = now;
    if (mode_ == PollMode::busy || now - last_work_ < spin_) return false;
    return sleep(now, deadline);
  }

  /// Ends the thread's sleep, the present one or the next: there is something for it outside its ports. Any thread.
  void wake() noexcept;

  [[nodiscard]] PollMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_; }

 private:
  bool sleep(Instant now, Instant deadline) noexcept;
  [[nodiscard]] bool sleeps_in_steps() const noexcept { return blind_ports_ || descriptors_.size() == 1; }
  [[nodiscard]] Duration longest_sleep(Instant now) const noexcept;
  void take_wakeups() noexcept;

  PollMode mode_;
  bool blind_ports_ = false;  ///< some port cannot wake us
  Duration spin_;
  Duration step_;
  Duration idle_step_;
  Instant last_work_{};
  std::uint64_t sleeps_ = 0;
  std::vector<pollfd> descriptors_;  ///< the first one is wake()'s
};

}  // namespace sluice::dpdk

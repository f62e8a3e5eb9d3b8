#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::proxy {

/// Detects a thread that hangs. Each running thread increases a counter, and the counters are sampled. Time is counted
/// in samples, so that a pause of the whole machine counts as one sample. If no thread makes progress, the whole
/// program is stopped or gets no processor, and no single thread counts as hanging. No call allocates memory. Thread:
/// one.
class ProgressWatch {
 public:
  /// Number of samples without progress of a thread after which the thread counts as hanging. Samples in a pause of the
  /// whole program do not count, see `pause_after`.
  static constexpr std::uint32_t hang_after = 30;
  /// Number of consecutive samples without progress of any thread after which the whole program counts as paused.
  /// Further such samples no longer count towards `hang_after` of a single thread.
  static constexpr std::uint32_t pause_after = 5;
  /// Number of consecutive samples without progress of any thread after which sample() returns State::stopped. The
  /// watchdog process then kills the program.
  static constexpr std::uint32_t stopped_after = 100;

  enum class State : std::uint8_t { runs, hangs, stopped };
  struct Verdict {
    State state = State::runs;
    std::uint32_t thread = 0;  ///< thread that hangs
  };

  explicit ProgressWatch(std::size_t threads) : threads_(threads) {}

  /// Takes the next sample and returns the state of the threads. `counters` contains one counter for each thread.
  [[nodiscard]] Verdict sample(std::span<const std::uint64_t> counters);
  /// Resets the number of samples without progress of every thread to zero.
  void restart();

 private:
  struct Watched {
    std::uint64_t counter = 0;
    /// number of samples without progress of this thread, without those in a pause of the whole program
    std::uint32_t still = 0;
  };
  std::vector<Watched> threads_;
  std::uint32_t samples_without_progress_ = 0;  ///< number of samples since any thread last made progress
};

}  // namespace sluice::proxy

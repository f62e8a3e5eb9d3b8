#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::proxy {

/// Detects a thread that hangs, by samples of counters that running threads increase. Time is counted in samples, so
/// that a pause of the whole machine counts as one sample. If no thread at all makes progress, the program is stopped
/// or gets no processor, and no single thread counts as hanging. No call allocates memory. Thread: one.
class ProgressWatch {
 public:
  /// Number of samples without progress after which a thread hangs, if others make progress.
  static constexpr std::uint32_t hang_after = 30;
  /// Number of samples without progress of any thread after which the whole program counts as stopped. From the next
  /// sample on, threads are not compared with each other.
  static constexpr std::uint32_t pause_after = 5;
  /// Number of samples without progress of any thread after which the program is killed.
  static constexpr std::uint32_t stopped_after = 100;

  enum class State : std::uint8_t { runs, hangs, stopped };
  struct Verdict {
    State state = State::runs;
    std::uint32_t thread = 0;  ///< thread that hangs
  };

  explicit ProgressWatch(std::size_t threads) : threads_(threads) {}

  /// Takes the next sample. `counters` has one for each thread.
  [[nodiscard]] Verdict sample(std::span<const std::uint64_t> counters);
  /// Discards for how long threads have made no progress.
  void restart();

 private:
  struct Watched {
    std::uint64_t counter = 0;
    std::uint32_t still = 0;  ///< samples without progress of this thread while other threads made progress
  };
  std::vector<Watched> threads_;
  std::uint32_t all_still_ = 0;  ///< samples since any thread made progress
};

}  // namespace sluice::proxy

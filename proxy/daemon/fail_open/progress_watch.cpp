#include "proxy/daemon/fail_open/progress_watch.hpp"

#include <algorithm>

namespace sluice::proxy {

ProgressWatch::Verdict ProgressWatch::sample(std::span<const std::uint64_t> counters) {
  bool any = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) any |= counters[i] != threads_[i].counter;
  samples_without_progress_ = any ? 0 : samples_without_progress_ + 1;
  if (samples_without_progress_ >= stopped_after) return {State::stopped, 0};
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Watched& thread = threads_[i];
    if (counters[i] != thread.counter) {
      thread = {counters[i], 0};
    } else if (samples_without_progress_ <= pause_after && ++thread.still >= hang_after) {
      return {State::hangs, static_cast<std::uint32_t>(i)};
    }
  }
  return {};
}

void ProgressWatch::restart() {
  samples_without_progress_ = 0;
  for (Watched& thread : threads_) thread.still = 0;
}

}  // namespace sluice::proxy

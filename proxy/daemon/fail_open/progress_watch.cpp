#include "proxy/daemon/fail_open/progress_watch.hpp"

#include <algorithm>

namespace sluice::proxy {

ProgressWatch::Verdict ProgressWatch::sample(std::span<const std::uint64_t> counters) {
  bool any = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) any |= counters[i] != threads_[i].counter;
  all_still_ = any ? 0 : all_still_ + 1;
  if (all_still_ >= stopped_after) return {State::stopped, 0};
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Watched& thread = threads_[i];
    if (counters[i] != thread.counter) {
      thread = {counters[i], 0};
    } else if (all_still_ <= pause_after && ++thread.still >= hang_after) {
      return {State::hangs, static_cast<std::uint32_t>(i)};
    }
  }
  return {};
}

void ProgressWatch::restart() {
  all_still_ = 0;
  for (Watched& thread : threads_) thread.still = 0;
}

}  // namespace sluice::proxy

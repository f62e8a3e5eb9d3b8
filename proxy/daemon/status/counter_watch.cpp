#include "proxy/daemon/status/counter_watch.hpp"

namespace sluice::proxy {

std::vector<std::string> CounterWatch::look(const std::vector<NamedCounter>& counters, Instant now) {
  std::vector<std::string> due;
  for (const NamedCounter& counter : counters) {
    if (!counter.alarming) continue;
    Seen& seen = seen_[counter.name];
    if (counter.value <= seen.reported || now < seen.quiet_until) continue;
    due.push_back(counter.name + ": " + std::to_string(counter.value - seen.reported) + " more (" +
                  std::to_string(counter.value) + " in all): " + std::string(counter.text) +
                  (counter.detail.empty() ? "" : "; " + counter.detail));
    seen = {counter.value, now + period_};
  }
  return due;
}

}  // namespace sluice::proxy

#include "proxy/ops/decision_log/trace_ring.hpp"

#include <algorithm>

namespace sluice::tracing {

TraceRing::TraceRing(std::size_t room) : ring_(room) {
  // Touches all pages now, so that the shard takes no page faults.
  const std::string zeros(room, '\0');
  ring_.push(zeros.data(), zeros.size());
  ring_.reset();
}

bool TraceRing::put(std::string_view line) {
  if (ring_.write_available() < line.size()) return false;
  ring_.push(line.data(), line.size());
  return true;
}

void TraceRing::take(std::string& out, std::size_t most) {
  const std::size_t before = out.size();
  const std::size_t count = std::min(most, ring_.read_available());
  out.resize(before + count);
  out.resize(before + ring_.pop(out.data() + before, count));
}

}  // namespace sluice::tracing

#pragma once

#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "control/decision_log/decision_log.hpp"

namespace sluice::tracing {

/// Ring that carries the lines of a decision log (inputs and decisions of controllers) from one shard to the client.
/// The shard's thread writes it, and the control thread reads it. Neither thread waits for the other.
class TraceRing final : public control::LineSink {
 public:
  /// Allocates a ring of `room` bytes. Throws std::bad_alloc.
  explicit TraceRing(std::size_t room);

  [[nodiscard]] bool put(std::string_view line) override;

  /// Called by the reader. Moves available bytes, at most `most`, from the ring to the end of `out`. One line may be
  /// split between two calls.
  void take(std::string& out, std::size_t most);
  /// True if the ring has no bytes to read. Called by the reader.
  [[nodiscard]] bool empty() const { return ring_.read_available() == 0; }

 private:
  boost::lockfree::spsc_queue<char> ring_;
};

/// Decision log of one shard's controllers, and the ring to which it writes lines.
struct ShardTrace {
  ShardTrace(std::size_t room, const control::DecisionLog::Selection& selection, control::DecisionLog::Numbers numbers)
      : ring(room), trace(ring, selection, numbers) {}

  TraceRing ring;
  control::DecisionLog trace;
};

}  // namespace sluice::tracing

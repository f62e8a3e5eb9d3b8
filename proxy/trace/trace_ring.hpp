#pragma once

#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "control/trace/law_trace.hpp"

namespace sluice::tracing {

/// Lines of one shard on their way to whoever asked for them: a ring of bytes with one writer, the shard's thread, and
/// one reader, the control thread. Nobody waits.
class TraceRing final : public control::LineSink {
 public:
  /// `room`: bytes, taken here. Throws std::bad_alloc.
  explicit TraceRing(std::size_t room);

  [[nodiscard]] bool put(std::string_view line) override;

  /// Reader: appends what there is, `most` bytes at most; a line may come in parts.
  void take(std::string& out, std::size_t most);
  /// Reader: nothing is left to take.
  [[nodiscard]] bool empty() const { return ring_.read_available() == 0; }

 private:
  boost::lockfree::spsc_queue<char> ring_;
};

/// One shard's part of a trace.
struct ShardTrace {
  ShardTrace(std::size_t room, const control::LawTrace::Wanted& wanted, control::LawTrace::Numbers numbers)
      : ring(room), trace(ring, wanted, numbers) {}

  TraceRing ring;
  control::LawTrace trace;
};

}  // namespace sluice::tracing

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/byte_stream.hpp"
#include "proxy/ops/decision_log/request.hpp"
#include "proxy/ops/decision_log/trace_ring.hpp"

namespace sluice::tracing {

/// Byte stream of one decision log as JSON lines: the inputs and decisions of one UE's controllers. Lines of the same
/// shard are in order of time. The stream ends after the requested duration or number of lines, or at the client's
/// request. Thread: the control thread.
class TraceStream final : public admin::ByteStream {
 public:
  struct Parts {
    std::string program;                  ///< name of the program, which the first line of the log contains
    std::function<Instant()> now;         ///< returns the time of the shards' clock
    std::function<std::uint64_t()> wall;  ///< returns the wall-clock time in nanoseconds since 1970
    std::function<void()> detach;         ///< makes the shards stop using the decision log
    std::function<bool()> detached;       ///< returns true if no shard uses the decision log any more
  };
  TraceStream(Parts parts, const Request& request, std::vector<std::shared_ptr<ShardTrace>> shards);
  ~TraceStream() override;
  TraceStream(const TraceStream&) = delete;
  TraceStream& operator=(const TraceStream&) = delete;

  bool take(std::string& out, std::size_t most) override;
  void finish() override;

 private:
  struct Source {
    std::shared_ptr<ShardTrace> shard;
    std::string text;  ///< start of a line that was read from the ring, and whose end was not read yet
  };
  /// Appends the first line of the log: the program, the UE, the time on the shards' clock, and the wall-clock time
  /// since 1970.
  void begin(std::string& out) const;
  void add_lines(std::string& out, std::string_view lines);
  /// Appends the last line of the log. It contains the numbers of written and of lost lines.
  void end(std::string& out) const;
  [[nodiscard]] bool drained() const;

  Parts parts_;
  Request request_;
  std::vector<Source> sources_;
  std::optional<Instant> deadline_;
  std::optional<Instant> ended_;  ///< time at which the end of the recording was requested; not set before
  std::uint64_t lines_ = 0;
  bool header_written_ = false;
};

}  // namespace sluice::tracing

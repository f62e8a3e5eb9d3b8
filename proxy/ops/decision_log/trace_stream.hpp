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

/// Byte stream of one decision log as JSON lines; the lines of each shard are in order of time. It ends after the
/// duration, after the requested number of lines, or on the client's request. Thread: the control thread.
class TraceStream final : public admin::ByteStream {
 public:
  struct Parts {
    std::string program;                  ///< program name in the log's first line
    std::function<Instant()> now;         ///< returns the time of the shards' clock
    std::function<std::uint64_t()> wall;  ///< returns the wall-clock time in nanoseconds since 1970
    std::function<void()> detach;         ///< requests that the shards stop using the log
    std::function<bool()> detached;       ///< returns true once no shard uses the log
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
    std::string text;  ///< start of an incomplete line, taken from the ring and not yet written
  };
  /// Appends the log's first line, which names the program, the UE and the clocks.
  void begin(std::string& out) const;
  void add_lines(std::string& out, std::string_view lines);
  /// Appends the log's last line, with the numbers of written and of lost lines.
  void end(std::string& out) const;
  [[nodiscard]] bool drained() const;

  Parts parts_;
  Request request_;
  std::vector<Source> sources_;
  std::optional<Instant> deadline_;
  std::optional<Instant> ended_;  ///< time at which the end of the recording was requested
  std::uint64_t lines_ = 0;
  bool introduced_ = false;
};

}  // namespace sluice::tracing

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/admin/byte_stream.hpp"
#include "proxy/trace/request.hpp"
#include "proxy/trace/trace_ring.hpp"

namespace sluice::tracing {

/// One trace as its client reads it: lines of JSON, those of each shard in the order of time. It ends when its time is
/// over, it has its lines, or the client wants no more. Thread: the control thread.
class TraceStream final : public admin::ByteStream {
 public:
  struct Parts {
    std::string program;                  ///< as the first line names it
    std::function<Instant()> now;         ///< that of the shards
    std::function<std::uint64_t()> wall;  ///< nanoseconds since 1970
    std::function<void()> detach;         ///< the shards are to tell no more
    std::function<bool()> detached;       ///< they do not
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
    std::string text;  ///< taken, and not written yet: a line that is not whole
  };
  void begin(std::string& out) const;
  void add_lines(std::string& out, std::string_view lines);
  void end(std::string& out) const;
  [[nodiscard]] bool drained() const;

  Parts parts_;
  Request request_;
  std::vector<Source> sources_;
  std::optional<Instant> deadline_;
  std::optional<Instant> ended_;  ///< when it was to end
  std::uint64_t lines_ = 0;
  bool introduced_ = false;
};

}  // namespace sluice::tracing

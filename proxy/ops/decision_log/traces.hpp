#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/decision_log/trace_slot.hpp"
#include "proxy/ops/decision_log/trace_stream.hpp"

namespace sluice::tracing {

/// Starts and ends decision traces. Only one runs at a time, because a controller reports to one trace only. Thread:
/// the control thread.
class Traces {
 public:
  /// Ring size in bytes of a trace at one shard.
  static constexpr std::size_t room = std::size_t{4} << 20U;

  struct Program {
    std::string name;
    std::vector<TraceSlot*> shards;  ///< slots of the shards, which outlive the traces
    std::function<void()> wake;      ///< makes every shard check its slot soon
    std::function<Instant()> now;    ///< clock of the shards
    std::function<std::uint64_t()> wall;
  };
  /// The object outlives its traces and the shards' threads.
  explicit Traces(Program program) : program_(std::move(program)) {}
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// Starts a trace with the options of a Request. Returns an answer with a stream of lines, or an error.
  [[nodiscard]] admin::Answer begin(const std::vector<std::string>& words);
  [[nodiscard]] bool running() const { return running_; }
  /// Frees the last trace once no shard uses it. Called about once a second.
  void tidy();

 private:
  void end();
  /// True if some shard may still use the newest trace.
  [[nodiscard]] bool in_use() const;

  Program program_;
  std::vector<std::shared_ptr<ShardTrace>> newest_;  ///< newest trace, indexed by shard
  bool running_ = false;
};

}  // namespace sluice::tracing

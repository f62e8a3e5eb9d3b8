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

/// Starts and ends decision logs, which contain the inputs and decisions of one UE's controllers. Only one can be
/// recorded at a time, because a controller writes to only one log. Thread: the control thread.
class Traces {
 public:
  /// Size in bytes of the ring of a decision log at one shard.
  static constexpr std::size_t room = std::size_t{4} << 20U;

  struct Program {
    std::string name;
    /// Slots through which the shards get the decision log that they write, indexed by shard; outlive the logs.
    std::vector<TraceSlot*> shards;
    /// wakes every shard, so that it checks whether a decision log has started or ended
    std::function<void()> wake;
    std::function<Instant()> now;  ///< returns the time of the shards' clock
    std::function<std::uint64_t()> wall;
  };
  /// Stores `program`. The object must outlive its decision logs and the threads of the shards.
  explicit Traces(Program program) : program_(std::move(program)) {}
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// Starts a decision log with the options that `words` contains (see Request). Returns an answer with a stream of
  /// lines, or an error.
  [[nodiscard]] admin::Answer begin(const std::vector<std::string>& words);
  [[nodiscard]] bool running() const { return running_; }
  /// Frees the last decision log if no shard uses it any more. Must be called about once a second.
  void free_unused();

 private:
  void end();
  /// True if a shard may still use the newest decision log.
  [[nodiscard]] bool in_use() const;

  Program program_;
  /// recorder and ring of the newest decision log at each shard, indexed by shard
  std::vector<std::shared_ptr<ShardTrace>> newest_;
  bool running_ = false;
};

}  // namespace sluice::tracing

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/admin/command.hpp"
#include "proxy/trace/trace_slot.hpp"
#include "proxy/trace/trace_stream.hpp"

namespace sluice::tracing {

/// The trace that runs; one at a time, since a law has no more than one to tell. Thread: the control thread.
class Traces {
 public:
  /// Bytes that a trace may keep for one shard.
  static constexpr std::size_t room = std::size_t{4} << 20U;

  struct Program {
    std::string name;
    std::vector<TraceSlot*> shards;  ///< outlive it
    std::function<void()> wake;      ///< has every shard look at its slot soon
    std::function<Instant()> now;    ///< the shards' clock
    std::function<std::uint64_t()> wall;
  };
  /// Outlives its traces, and the shards.
  explicit Traces(Program program) : program_(std::move(program)) {}
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// A new one, by the words of a Request, as an answer that a stream of lines follows; or why there is none.
  [[nodiscard]] admin::Answer begin(const std::vector<std::string>& words);
  [[nodiscard]] bool running() const { return running_; }
  /// Gives back what no shard uses any more. To be called about once a second.
  void tidy();

 private:
  void end();
  /// Some shard still tells the newest.
  [[nodiscard]] bool in_use() const;

  Program program_;
  std::vector<std::shared_ptr<ShardTrace>> newest_;  ///< by shard
  bool running_ = false;
};

}  // namespace sluice::tracing

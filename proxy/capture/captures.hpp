#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/admin/command.hpp"
#include "proxy/capture/capture_stream.hpp"
#include "proxy/capture/tap_slot.hpp"

namespace sluice::capture {

/// The captures that run, each with a tap at every shard, most_captures at most. Thread: the control thread.
class Captures {
 public:
  /// Bytes that one capture may keep for one shard.
  static constexpr std::size_t room = std::size_t{4} << 20U;

  struct Program {
    std::string name;
    std::array<std::string, 2> devices;  ///< by Side
    std::vector<TapSlot*> shards;        ///< outlive it
    std::function<void()> wake;          ///< has every shard look at its slot soon
    Clock clock;
  };
  /// Outlives its captures, and the shards' threads.
  explicit Captures(Program program) : program_(std::move(program)), sets_(program_.shards.size()) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  /// A new one, by the words of a Request, as an answer that a stream of pcapng follows; or why there is none.
  [[nodiscard]] admin::Answer begin(const std::vector<std::string>& words);
  /// From now on the shards put their frames there, too, captures or none. To be called once.
  void record(std::vector<std::shared_ptr<FrameSink>> recorders);
  [[nodiscard]] const Clock& time_source() const { return program_.clock; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  /// Gives back what no shard uses any more. To be called about once a second.
  void tidy();

 private:
  using Taps = std::vector<std::shared_ptr<FrameTap>>;  ///< by shard
  struct Running {
    std::uint64_t id;
    Taps taps;
  };

  void end(std::uint64_t id);
  void tell_shards();
  [[nodiscard]] bool shards_have(std::uint64_t generation) const;

  Program program_;
  std::vector<Running> running_;
  std::vector<std::shared_ptr<FrameSink>> recorders_;          ///< by shard; empty where there are none
  std::vector<std::vector<std::unique_ptr<ShardTaps>>> sets_;  ///< by shard: the last is in force
  std::uint64_t generation_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace sluice::capture

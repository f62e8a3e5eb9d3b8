#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/ops/admin/command.hpp"
#include "proxy/ops/capture/capture_stream.hpp"
#include "proxy/ops/capture/tap_slot.hpp"

namespace sluice::capture {

/// Manages up to `max_captures` concurrent captures. Each has a tap at every shard, that is, a ring to which the shard
/// writes copies of frames. Thread: the control thread.
class Captures {
 public:
  /// Size in bytes of the ring of one capture at one shard.
  static constexpr std::size_t room = std::size_t{4} << 20U;

  struct Program {
    std::string name;
    std::array<std::string, 2> devices;  ///< names of the ports' devices, indexed by Side
    /// slot of each shard, through which the shard gets its current set of taps (rings for frames); outlives the
    /// captures
    std::vector<TapSlot*> shards;
    /// wakes every shard, so that it checks whether it must use another set of taps (rings for frames)
    std::function<void()> wake;
    Clock clock;
  };
  /// Stores `program`. The object must outlive its captures and the threads of the shards.
  explicit Captures(Program program) : program_(std::move(program)), sets_(program_.shards.size()) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  /// Starts a capture with the options that `words` contains (see Request). Returns an answer with a pcapng stream, or
  /// an error.
  [[nodiscard]] admin::Answer begin(const std::vector<std::string>& words);
  /// Makes the shards pass their frames to `recorders` from now on, whether or not a capture runs. There is one
  /// recorder for each shard, which stores the shard's last frames. Must be called only once.
  void record(std::vector<std::shared_ptr<FrameSink>> recorders);
  [[nodiscard]] const Clock& time_source() const { return program_.clock; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  /// Frees sets of taps (rings for frames) that no shard uses any more. Must be called about once a second.
  void free_unused();

 private:
  /// Taps of one capture: the rings to which the shards write its frames, indexed by shard.
  using Taps = std::vector<std::shared_ptr<FrameTap>>;
  struct Running {
    std::uint64_t id;
    Taps taps;
  };

  void end(std::uint64_t id);
  /// Offers every shard a new set of taps (rings for frames), with the current captures and recorders.
  void notify_shards();
  /// True if every shard uses the set of taps (rings for frames) with this generation number or a later one.
  [[nodiscard]] bool shards_have(std::uint64_t generation) const;

  Program program_;
  std::vector<Running> running_;

  /// recorders of the last frames, indexed by shard; empty if last frames are not recorded
  std::vector<std::shared_ptr<FrameSink>> recorders_;
  /// sets of taps (rings for frames) that still exist, indexed by shard; the last set of a shard is the one that was
  /// offered last
  std::vector<std::vector<std::unique_ptr<ShardTaps>>> sets_;
  std::uint64_t generation_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace sluice::capture

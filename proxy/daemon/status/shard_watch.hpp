#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects poll threads that stall, by their snapshots, which they publish many times a second. A thread stalls if its
/// processor is taken, a driver does not return, or it blocks. Thread: the control thread.
class ShardWatch {
 public:
  /// Age of a shard's newest snapshot above which the shard counts as stalled; ten times the usual age.
  static constexpr Duration limit = std::chrono::seconds(1);
  /// Longest time between two calls of look() for which stalls are detected. If it is exceeded, the whole program was
  /// stopped, so no shard counts as stalled.
  static constexpr Duration longest_pause = std::chrono::seconds(2);

  explicit ShardWatch(std::size_t shards) : shards_(shards) {}

  /// Start or end of a shard's stall.
  struct Event {
    std::size_t shard = 0;
    bool stands = false;
    Duration length{};  ///< duration of the stall so far, or in total if it has ended
  };
  /// Returns the stalls that began or ended since the last call. `published` holds the time of each shard's newest
  /// snapshot. Called about once a second.
  [[nodiscard]] std::vector<Event> look(std::span<const Instant> published, Instant now);
  /// Returns for how long the shard has been stalled; zero while it is running.
  [[nodiscard]] Duration standing(std::size_t shard, Instant now) const;
  /// Returns the number of stalls so far.
  [[nodiscard]] std::uint64_t stalls() const { return stalls_; }

 private:
  struct Watched {
    Instant last_seen = never;  ///< time of the shard's newest snapshot while it is stalled, else `never`
  };
  std::vector<Watched> shards_;
  Instant last_look_ = never;
  std::uint64_t stalls_ = 0;
};

}  // namespace sluice::proxy

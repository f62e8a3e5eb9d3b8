#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects poll threads that stall. A thread stalls if it gets no processor, if a driver does not return, or if it
/// blocks. A thread that does not stall publishes snapshots ten times a second. Thread: the control thread.
class ShardWatch {
 public:
  /// Age of a shard's newest snapshot above which the shard counts as stalled. It is ten times the publication period.
  static constexpr Duration limit = std::chrono::seconds(1);
  /// Longest interval between two calls of look() in which stalls are detected. If the interval is longer, the whole
  /// program was stopped, so that no shard counts as stalled.
  static constexpr Duration longest_pause = std::chrono::seconds(2);

  explicit ShardWatch(std::size_t shards) : shards_(shards) {}

  /// The start or the end of a shard's stall.
  struct Event {
    std::size_t shard = 0;
    bool is_stalled = false;
    Duration length{};  ///< duration of the stall until now, or until its end
  };
  /// Returns the stalls that began or ended since the last call. `published` contains the time of each shard's newest
  /// snapshot. Must be called about once a second.
  [[nodiscard]] std::vector<Event> look(std::span<const Instant> published, Instant now);
  /// Returns for how long the shard has been stalled; zero if it is not stalled.
  [[nodiscard]] Duration stalled_for(std::size_t shard, Instant now) const;
  /// Returns the number of stalls so far.
  [[nodiscard]] std::uint64_t stalls() const { return stalls_; }

 private:
  struct Watched {
    Instant last_seen = never;  ///< time of the shard's newest snapshot if the shard is stalled, else `never`
  };
  std::vector<Watched> shards_;
  Instant last_look_ = never;
  std::uint64_t stalls_ = 0;
};

}  // namespace sluice::proxy

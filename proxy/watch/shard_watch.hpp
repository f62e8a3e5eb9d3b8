#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Sees poll threads that stand still, by what they publish many times a second: its processor is taken, a driver does
/// not return, or it waits for something. Thread: the control thread.
class ShardWatch {
 public:
  /// Older than this, the newest snapshot of a shard tells that it stands; ten times the usual age.
  static constexpr Duration limit = std::chrono::seconds(1);
  /// look() that comes later than this after the last one judges nobody: the whole program stood.
  static constexpr Duration longest_pause = std::chrono::seconds(2);

  explicit ShardWatch(std::size_t shards) : shards_(shards) {}

  /// A shard has come to stand, or runs again.
  struct Event {
    std::size_t shard = 0;
    bool stands = false;
    Duration length{};  ///< for how long by now, or for how long it stood
  };
  /// `published`: when each shard's newest snapshot was. To be called about once a second.
  [[nodiscard]] std::vector<Event> look(std::span<const Instant> published, Instant now);
  /// For how long the shard has stood; zero while it runs.
  [[nodiscard]] Duration standing(std::size_t shard, Instant now) const;
  /// How often one came to stand.
  [[nodiscard]] std::uint64_t stalls() const { return stalls_; }

 private:
  struct Watched {
    Instant last_seen = never;  ///< while it stands: its newest snapshot
  };
  std::vector<Watched> shards_;
  Instant last_look_ = never;
  std::uint64_t stalls_ = 0;
};

}  // namespace sluice::proxy

#include "proxy/daemon/status/shard_watch.hpp"

#include <utility>

namespace sluice::proxy {

std::vector<ShardWatch::Event> ShardWatch::look(std::span<const Instant> published, Instant now) {
  std::vector<Event> events;
  const bool stood_ourselves = last_look_ == never || now - last_look_ > longest_pause;
  last_look_ = now;
  if (stood_ourselves) return events;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    Instant& last_seen = shards_[i].last_seen;
    const bool is_stalled = now - published[i] > limit;
    if (is_stalled && last_seen == never) {
      last_seen = published[i];
      ++stalls_;
      events.push_back({i, true, now - published[i]});
    } else if (!is_stalled && last_seen != never) {
      events.push_back({i, false, published[i] - std::exchange(last_seen, never)});
    }
  }
  return events;
}

Duration ShardWatch::stalled_for(std::size_t shard, Instant now) const {
  const Instant last_seen = shards_[shard].last_seen;
  return last_seen == never ? Duration::zero() : now - last_seen;
}

}  // namespace sluice::proxy

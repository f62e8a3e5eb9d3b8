#include "emulator/aqm/round_robin_queue.hpp"

#include <algorithm>

#include "emulator/net/flow_key.hpp"
#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

void RoundRobinQueue::enqueue(packet::Packet packet, Instant now) {
  const auto flow_key = read_flow_key(packet.bytes());
  const std::uint64_t key = flow_key ? flow_key->hash() : 0;
  on_enqueued(packet);
  const auto [at, fresh] = flows_.try_emplace(key);
  if (fresh) {
    at->second.deficit = quantum_;
    service_order_.push_back(key);
  }
  at->second.bytes += line_size(packet);
  at->second.queue.push({std::move(packet), now});
  while (exceeds(limit_)) drop_from_longest();
}

void RoundRobinQueue::drop_from_longest() {
  std::uint64_t longest = service_order_.front();
  for (const std::uint64_t key : service_order_) {
    if (flows_.at(key).bytes > flows_.at(longest).bytes) longest = key;
  }
  Flow& flow = flows_.at(longest);
  const Queued newest = flow.queue.pop_back();
  flow.bytes -= size_of(newest);
  dropped(newest, &DisciplineCounters::dropped_full);
  if (flow.queue.empty()) leave(longest);
}

void RoundRobinQueue::leave(std::uint64_t key) {
  service_order_.erase(std::find(service_order_.begin(), service_order_.end(), key));
  flows_.erase(key);
}

packet::Packet RoundRobinQueue::dequeue(Instant now) {
  while (!service_order_.empty()) {
    const std::uint64_t key = service_order_.front();
    Flow& flow = flows_.at(key);
    const Bytes size = size_of(flow.queue.front());
    if (size > flow.deficit) {
      flow.deficit += quantum_;
      service_order_.splice(service_order_.end(), service_order_, service_order_.begin());
      continue;
    }
    flow.deficit -= size;
    flow.bytes -= size;
    Queued next = flow.queue.pop();
    if (flow.queue.empty()) leave(key);
    return departs(std::move(next), now);
  }
  return {};
}

}  // namespace sluice::emulator

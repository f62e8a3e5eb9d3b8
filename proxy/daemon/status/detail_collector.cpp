#include "proxy/daemon/status/detail_collector.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

Json described(const FlowInfo& flow) {
  return to_json(flow);
}

Json described(const BearerInfo& bearer) {
  return to_json(bearer, dpdk::now());
}

/// Returns flows or bearers as a JSON list of at most `limit` entries. The shards take turns, so that each one is
/// represented if the list does not contain all. `infos` selects which of the two.
template <typename Info>
Json listed(const StatusSource& status_source, std::vector<Info> ShardSnapshot::*infos, std::size_t limit) {
  Json list = Json::array();
  std::size_t most = 0;
  for (const ShardChannel* channel : status_source.channels())
    most = std::max(most, (channel->snapshots.front().*infos).size());
  for (std::size_t at = 0; at < most; ++at) {
    for (const ShardChannel* channel : status_source.channels()) {
      const std::vector<Info>& of_shard = channel->snapshots.front().*infos;
      if (at >= of_shard.size()) continue;
      if (list.size() >= limit) return list;
      list.push_back(described(of_shard[at]));
    }
  }
  return list;
}

}  // namespace

void DetailCollector::flows(std::uint16_t limit, admin::Reply reply) {
  add({0, limit, 0}, std::move(reply));
}

void DetailCollector::bearers(std::uint16_t limit, admin::Reply reply) {
  add({0, 0, limit}, std::move(reply));
}

void DetailCollector::both(std::uint16_t flows, std::uint16_t bearers, admin::Reply reply) {
  add({0, flows, bearers}, std::move(reply));
}

void DetailCollector::add(DetailRequest request, admin::Reply reply) {
  requests_.add({[this, request](std::uint32_t id) {
                   post({id, request.flows, request.bearers});
                 },
                 [](const ShardSnapshot& shard) { return shard.details; }, [this, request] { return collect(request); },
                 [this] { post({}); }, std::move(reply)});
}

void DetailCollector::post(const DetailRequest& request) {
  for (ShardChannel* channel : status_source_.channels()) {
    channel->requested_details.store(request, std::memory_order_relaxed);
  }
}

Answer DetailCollector::collect(const DetailRequest& request) const {
  Json flows = listed(status_source_, &ShardSnapshot::flows, request.flows);
  Json bearers = listed(status_source_, &ShardSnapshot::bearers, request.bearers);
  if (request.bearers == 0) return Answer::success(std::move(flows));
  if (request.flows == 0) return Answer::success(std::move(bearers));
  return Answer::success({{"flows", std::move(flows)}, {"bearers", std::move(bearers)}});
}

}  // namespace sluice::proxy

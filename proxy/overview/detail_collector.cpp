#include "proxy/overview/detail_collector.hpp"

#include <utility>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

template <typename Info>
void append(Json& list, const std::vector<Info>& infos, std::size_t limit) {
  for (const Info& info : infos) {
    if (list.size() >= limit) return;
    list.push_back(to_json(info));
  }
}

}  // namespace

void DetailCollector::flows(std::uint16_t limit, admin::Reply reply) {
  add({0, limit, 0}, std::move(reply));
}

void DetailCollector::bearers(std::uint16_t limit, admin::Reply reply) {
  add({0, 0, limit}, std::move(reply));
}

void DetailCollector::add(DetailRequest request, admin::Reply reply) {
  requests_.add({[this, request](std::uint32_t id) {
                   post({id, request.flows, request.bearers});
                 },
                 [](const ShardSnapshot& shard) { return shard.details; }, [this, request] { return collect(request); },
                 [this] { post({}); }, std::move(reply)});
}

void DetailCollector::post(const DetailRequest& request) {
  for (ShardChannel* channel : overview_.channels()) {
    channel->details_wanted.store(request, std::memory_order_relaxed);
  }
}

Answer DetailCollector::collect(const DetailRequest& request) const {
  Json list = Json::array();
  for (const ShardChannel* channel : overview_.channels()) {
    append(list, channel->snapshots.front().flows, request.flows);
    append(list, channel->snapshots.front().bearers, request.bearers);
  }
  return Answer::success(std::move(list));
}

}  // namespace sluice::proxy

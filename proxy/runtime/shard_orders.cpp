// Passes an operator's commands to all shards and answers when the last shard has carried one out. The admin server
// calls it on the control thread. A command that names a UE is an error if no shard has a connection of that UE.
#include "proxy/runtime/shard_orders.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

}  // namespace

void ShardOrders::release(std::optional<IpAddress> ue, admin::Reply reply) {
  add({0, ue ? ShardOrder::Kind::release_ue : ShardOrder::Kind::release_all, ue.value_or(IpAddress{})},
      std::move(reply));
}

void ShardOrders::split_again(std::optional<IpAddress> ue, admin::Reply reply) {
  add({0, ue ? ShardOrder::Kind::split_again_ue : ShardOrder::Kind::split_again_all, ue.value_or(IpAddress{})},
      std::move(reply));
}

void ShardOrders::drain(bool on, admin::Reply reply) {
  add({0, on ? ShardOrder::Kind::drain : ShardOrder::Kind::resume, {}}, std::move(reply));
}

void ShardOrders::abort_all(admin::Reply reply) {
  add({0, ShardOrder::Kind::abort_all, {}}, std::move(reply));
}

void ShardOrders::look(admin::Reply reply) {
  add({0, ShardOrder::Kind::look, {}}, std::move(reply));
}

void ShardOrders::add(ShardOrder order, admin::Reply reply) {
  requests_.add({[this, order](std::uint32_t id) {
                   post({id, order.kind, order.ue});
                 },
                 [](const ShardSnapshot& shard) { return shard.order; },
                 [this, order] { return outcome(order); },
                 {},
                 std::move(reply)});
}

void ShardOrders::post(const ShardOrder& order) {
  // Only one order is pending and the ring holds several, so push() fails only if a shard has stopped answering.
  for (ShardChannel* channel : overview_.channels()) channel->orders.push(order);
  wake_();
}

Answer ShardOrders::outcome(const ShardOrder& order) const {
  using Kind = ShardOrder::Kind;
  const bool names_ue = order.kind == Kind::release_ue || order.kind == Kind::split_again_ue;
  const auto& channels = overview_.channels();
  const bool is_known = std::any_of(channels.begin(), channels.end(),
                                    [](const ShardChannel* channel) { return channel->snapshots.front().order_found; });
  if (names_ue && !is_known)
    return Answer::failure("no connection of UE " + order.ue.to_string() + " is known; bearers lists the UEs");
  return summary();
}

Answer ShardOrders::summary() const {
  StayingFlows sum;
  bool draining = false;
  for (const ShardChannel* channel : overview_.channels()) {
    const ShardSnapshot& shard = channel->snapshots.front();
    draining = draining || shard.draining;
    sum.total += shard.staying.total;
    sum.broken_by_a_stop += shard.staying.broken_by_a_stop;
    for (std::size_t i = 0; i < obstacle_count; ++i) sum.by_blocker.at(i) += shard.staying.by_blocker.at(i);
  }
  Json answer = {{"draining", draining}, {"still_split", sum.total}};
  for (std::size_t i = 1; i < obstacle_count; ++i) {
    answer["kept_by"][to_string(static_cast<HandbackBlocker>(i))] = sum.by_blocker.at(i);
  }
  answer["broken_by_a_stop"] = sum.broken_by_a_stop;
  return Answer::success(std::move(answer));
}

}  // namespace sluice::proxy

#include "proxy/runtime/shard_orders.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

/// How often we look whether the shards have answered, and for how long.
constexpr auto look_period = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(2);

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
  order.id = ++last_id_ == 0 ? ++last_id_ : last_id_;
  jobs_.push_back({order, std::move(reply)});
  if (jobs_.size() == 1) begin();
}

void ShardOrders::begin() {
  // One order at a time and a ring for several: there is always room, unless a shard has stopped answering.
  for (ShardChannel* channel : overview_.channels()) channel->orders.push(jobs_.front().order);
  wake_();
  deadline_ = boost::asio::steady_timer::clock_type::now() + patience;
  wait();
}

void ShardOrders::wait() {
  timer_.expires_after(look_period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check();
  });
}

void ShardOrders::check() {
  overview_.refresh();
  const auto done = [this](const ShardChannel* channel) {
    return channel->snapshots.front().order == jobs_.front().order.id;
  };
  if (std::all_of(overview_.channels().begin(), overview_.channels().end(), done)) return finish(summary());
  if (boost::asio::steady_timer::clock_type::now() < deadline_) return wait();
  finish(Answer::failure("a shard does not answer; is its processor taken by something else?"));
}

Answer ShardOrders::summary() const {
  StayingFlows sum;
  bool draining = false;
  for (const ShardChannel* channel : overview_.channels()) {
    const ShardSnapshot& shard = channel->snapshots.front();
    draining = draining || shard.draining;
    sum.total += shard.staying.total;
    sum.broken_by_a_stop += shard.staying.broken_by_a_stop;
    for (std::size_t i = 0; i < obstacle_count; ++i) sum.by_obstacle.at(i) += shard.staying.by_obstacle.at(i);
  }
  Json answer = {{"draining", draining}, {"still_split", sum.total}};
  for (std::size_t i = 1; i < obstacle_count; ++i) {
    answer["kept_by"][to_string(static_cast<Obstacle>(i))] = sum.by_obstacle.at(i);
  }
  answer["broken_by_a_stop"] = sum.broken_by_a_stop;
  return Answer::success(std::move(answer));
}

void ShardOrders::finish(const Answer& answer) {
  const Job job = std::move(jobs_.front());
  jobs_.pop_front();
  job.reply(answer);
  if (!jobs_.empty()) begin();
}

}  // namespace sluice::proxy

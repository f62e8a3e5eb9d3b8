#include "proxy/overview/detail_collector.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

/// How often we look whether the shards have answered, and for how long.
constexpr auto look_period = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(2);

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
  request.id = ++last_id_ == 0 ? ++last_id_ : last_id_;
  jobs_.push_back({request, std::move(reply)});
  if (jobs_.size() == 1) begin();
}

void DetailCollector::begin() {
  for (ShardChannel* channel : overview_.channels()) {
    channel->details_wanted.store(jobs_.front().request, std::memory_order_relaxed);
  }
  deadline_ = boost::asio::steady_timer::clock_type::now() + patience;
  wait();
}

void DetailCollector::wait() {
  timer_.expires_after(look_period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look();
  });
}

void DetailCollector::look() {
  overview_.refresh();
  const DetailRequest& request = jobs_.front().request;
  const auto answered = [&request](const ShardChannel* channel) {
    return channel->snapshots.front().details == request.id;
  };
  if (std::all_of(overview_.channels().begin(), overview_.channels().end(), answered)) return finish(collect(request));
  if (boost::asio::steady_timer::clock_type::now() < deadline_) return wait();
  finish(Answer::failure("a shard does not answer; is its processor taken by something else?"));
}

Answer DetailCollector::collect(const DetailRequest& request) const {
  Json list = Json::array();
  for (const ShardChannel* channel : overview_.channels()) {
    append(list, channel->snapshots.front().flows, request.flows);
    append(list, channel->snapshots.front().bearers, request.bearers);
  }
  return Answer::success(std::move(list));
}

void DetailCollector::finish(const Answer& answer) {
  for (ShardChannel* channel : overview_.channels()) {
    channel->details_wanted.store(DetailRequest{}, std::memory_order_relaxed);
  }
  const Job job = std::move(jobs_.front());
  jobs_.pop_front();
  job.reply(answer);
  if (!jobs_.empty()) begin();
}

}  // namespace sluice::proxy

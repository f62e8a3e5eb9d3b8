#include "proxy/daemon/status/shard_requests.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice::proxy {
namespace {

using Clock = boost::asio::steady_timer::clock_type;

/// Interval at which the control thread checks whether the shards' snapshots contain the answers.
constexpr auto answers_looked_for_every = std::chrono::milliseconds(2);
constexpr auto shard_answer_timeout = std::chrono::seconds(2);

}  // namespace

void ShardRequests::add(ShardRequest request) {
  requests_.push_back(std::move(request));
  if (requests_.size() == 1) begin();
}

void ShardRequests::begin() {
  id_ = std::max(id_ + 1, std::uint32_t{1});
  requests_.front().post(id_);
  deadline_ = Clock::now() + shard_answer_timeout;
  wait();
}

void ShardRequests::wait() {
  timer_.expires_after(answers_looked_for_every);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check();
  });
}

void ShardRequests::check() {
  status_source_.refresh();
  const auto has_answered = [this](const ShardChannel* channel) {
    return requests_.front().answered(channel->snapshots.front()) == id_;
  };
  const auto& channels = status_source_.channels();
  if (std::all_of(channels.begin(), channels.end(), has_answered)) return finish(requests_.front().collect());
  if (Clock::now() < deadline_) return wait();
  finish(admin::Answer::failure("a shard does not answer; does another thread occupy its processor?"));
}

void ShardRequests::finish(const admin::Answer& answer) {
  const ShardRequest request = std::move(requests_.front());
  requests_.pop_front();
  if (request.withdraw) request.withdraw();
  request.reply(answer);
  if (!requests_.empty()) begin();
}

}  // namespace sluice::proxy

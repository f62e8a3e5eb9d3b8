#include "proxy/runtime/stop_sequence.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "proxy/yaml/scalar.hpp"

namespace sluice::proxy {
namespace {

/// How often the shards are asked what is still split: each looks at all its connections for the answer.
constexpr Duration look_period = std::chrono::milliseconds(100);
/// A host that does not take a reset at its word asks back (RFC 5961 section 3.2), and the other one, which has gone,
/// answers: for so long both still pass.
constexpr Duration last_words = std::chrono::milliseconds(200);

auto to_timer(Duration duration) {
  return std::chrono::duration_cast<boost::asio::steady_timer::duration>(duration);
}

}  // namespace

StopSequence::StopSequence(boost::asio::io_context& context, ShardOrders& orders, Overview& overview, Duration drain,
                           std::function<void()> done)
    : orders_(orders), overview_(overview), drain_(drain), done_(std::move(done)), timer_(context) {}

void StopSequence::begin(const std::string& why) {
  if (!begun_) {
    begun_ = true;
    spdlog::info("stopping: {}; connections go back to their hosts for {} at most", why,
                 config::Scalar<Duration>::format(drain_));
    drain();
    return;
  }
  if (std::exchange(hurried_, true)) return;
  spdlog::info("stopping at once: {}", why);
  timer_.cancel();
}

void StopSequence::begin_hurried(const std::string& why) {
  if (begun_) return begin(why);
  begun_ = hurried_ = true;
  spdlog::info("stopping at once: {}", why);
  drain();
}

void StopSequence::drain() {
  handed_back_before_ = overview_.count(Counter::released_drain);
  deadline_ = boost::asio::steady_timer::clock_type::now() + to_timer(drain_);
  orders_.drain(true, [this](const admin::Answer& answer) { consider(answer); });
}

void StopSequence::look() {
  orders_.look([this](const admin::Answer& answer) { consider(answer); });
}

void StopSequence::consider(const admin::Answer& answer) {
  complete_ = answer.ok && answer.value.at("still_split") == 0;
  if (complete_) return finish();
  if (hurried_ || boost::asio::steady_timer::clock_type::now() >= deadline_) return end_connections();
  after(look_period, &StopSequence::look);
}

void StopSequence::end_connections() {
  orders_.abort_all([this](const admin::Answer& answer) {
    complete_ = answer.ok;
    if (!complete_) spdlog::error("some connections may end without a word: {}", answer.value.get<std::string>());
    linger();
  });
}

void StopSequence::linger() {
  if (hurried_) return finish();
  after(last_words, &StopSequence::finish);
}

void StopSequence::finish() {
  overview_.refresh();
  spdlog::info("{} connection(s) went back to their hosts, {} were reset on both sides",
               overview_.count(Counter::released_drain) - handed_back_before_,
               overview_.count(Counter::flows_reset_by_stop));
  done_();
}

/// A hurry cuts the delay short.
void StopSequence::after(Duration delay, void (StopSequence::*next)()) {
  timer_.expires_after(to_timer(delay));
  timer_.async_wait([this, next](const boost::system::error_code&) { (this->*next)(); });
}

}  // namespace sluice::proxy

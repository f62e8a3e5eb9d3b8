// Ends the program in order: drains the shards, resets what is left, and forwards packets for a moment longer.
// Runtime calls begin() for SIGTERM, SIGINT and `sluicectl stop`. Invariant: `done` is called exactly once, also if a
// shard does not answer.
#include "proxy/daemon/runtime/stop_sequence.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "proxy/yaml/scalar.hpp"

namespace sluice::proxy {
namespace {

/// Time for which packets are still forwarded after the remaining connections were reset. A host may answer a reset
/// with a challenge ACK (RFC 5961 section 3.2). The opposite host is already reset and answers that ACK with a RST.
constexpr Duration last_words = std::chrono::milliseconds(200);

auto to_timer(Duration duration) {
  return std::chrono::duration_cast<boost::asio::steady_timer::duration>(duration);
}

/// Returns text about what delays the handback of connections to their hosts, such as ", blocked by delivering 3,
/// closing 1". Returns an empty text if nothing delays it.
std::string blocked_by(const admin::Answer& answer) {
  std::string text;
  for (const auto& [name, count] : answer.value.at("blocked_by").items()) {
    if (count != 0) text += (text.empty() ? ", blocked by " : ", ") + name + " " + count.dump();
  }
  return text;
}

}  // namespace

StopSequence::StopSequence(boost::asio::io_context& context, ShardCommands& commands, StatusSource& status_source,
                           Duration drain, std::function<void()> done)
    : commands_(commands), status_source_(status_source), drain_(drain), done_(std::move(done)), timer_(context) {}

void StopSequence::begin(const std::string& why) {
  if (!begun_) {
    begun_ = true;
    spdlog::info("stopping: {}; connections are handed back to their hosts for at most {}", why,
                 config::Scalar<Duration>::format(drain_));
    drain();
    return;
  }
  if (std::exchange(is_immediate_, true)) return;
  spdlog::info("stopping at once: {}", why);
  timer_.cancel();
}

void StopSequence::begin_immediate(const std::string& why) {
  if (begun_) return begin(why);
  begun_ = is_immediate_ = true;
  spdlog::info("stopping at once: {}", why);
  drain();
}

void StopSequence::drain() {
  handed_back_before_ = status_source_.count(Counter::released_drain);
  time_.emplace(is_immediate_ ? Duration::zero() : drain_, dpdk::now());
  commands_.drain(true, [this](const admin::Answer& answer) { consider(answer); });
}

void StopSequence::look() {
  commands_.look([this](const admin::Answer& answer) { consider(answer); });
}

void StopSequence::consider(const admin::Answer& answer) {
  complete_ = answer.ok && answer.value.at("still_split") == 0;
  if (complete_) return finish();
  const auto would_break =
      answer.ok ? std::optional(answer.value.at("broken_by_a_stop").get<std::uint64_t>()) : std::nullopt;
  const bool was_extended = time_->is_extended();
  const bool ends = time_->ends(dpdk::now(), would_break);
  if (time_->suspended_time() > Duration::zero())
    spdlog::warn(
        "the program or its host was stalled for {}; the drain is extended by this time",
        config::Scalar<Duration>::format(std::chrono::floor<std::chrono::milliseconds>(time_->suspended_time())));
  if (!was_extended && time_->is_extended())
    spdlog::warn(
        "stop.drain is over, and {} connection(s) would break; the drain continues while their number falls, for at "
        "most {}",
        *would_break, config::Scalar<Duration>::format(drain_));
  if (is_immediate_ || ends) return state_and_end(answer);
  after(DrainTime::period, &StopSequence::look);
}

void StopSequence::state_and_end(const admin::Answer& answer) {
  if (answer.ok && answer.value.at("broken_by_a_stop") != 0)
    spdlog::warn(
        "the drain is over: {} connection(s) with unacknowledged data are reset on both sides; still split are {}{}",
        answer.value.at("broken_by_a_stop").dump(), answer.value.at("still_split").dump(), blocked_by(answer));
  end_connections();
}

void StopSequence::end_connections() {
  commands_.abort_all([this](const admin::Answer& answer) {
    complete_ = answer.ok;
    if (!complete_) spdlog::error("some connections may end without a reset: {}", answer.value.get<std::string>());
    linger();
  });
}

void StopSequence::linger() {
  if (is_immediate_) return finish();
  after(last_words, &StopSequence::finish);
}

void StopSequence::finish() {
  status_source_.refresh();
  spdlog::info("{} connection(s) were handed back to their hosts, {} were reset on both sides",
               status_source_.count(Counter::released_drain) - handed_back_before_,
               status_source_.count(Counter::flows_reset_by_stop));
  done_();
}

/// Calls the member function `next` after the delay. A new call of begin() ends the wait, so that `next` is called at
/// once.
void StopSequence::after(Duration delay, void (StopSequence::*next)()) {
  timer_.expires_after(to_timer(delay));
  timer_.async_wait([this, next](const boost::system::error_code&) { (this->*next)(); });
}

}  // namespace sluice::proxy

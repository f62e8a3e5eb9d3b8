// Simulates a download over QUIC from a CUBIC sender to a UE, whose datagrams wait in the proxy. Compares what the
// proxy may know of the radio queue: nothing, the acknowledgements themselves, the answers with a known number of
// datagrams per answer, holds alone, and the answers as AnswerClock counts them.
//
//     server (20 ms) proxy (10 ms) radio queue without limit - radio link - UE (10 ms) proxy (20 ms) server
//
// Usage: quic_answers FOLDER_OF_TRACES [seconds]. Prints the rows of two tables for tests/bench/figures/answers.md.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "control/ack_based/answer_clock.hpp"
#include "control/ack_based/delay_based_controller.hpp"
#include "proxy/engine/bearer/codel.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t full = 1500;
constexpr Duration core_delay = milliseconds(20);
constexpr Duration radio_delay = milliseconds(10);
constexpr Duration warm_up = seconds(10);
constexpr Instant start = Instant(seconds(1));

/// What the proxy knows of the radio queue.
enum class Source : std::uint8_t { nothing, acknowledgements, known_answers, holds, clock };
constexpr std::pair<Source, const char*> sources[] = {
    {Source::nothing, "nothing"},
    {Source::acknowledgements, "acknowledgements"},
    {Source::known_answers, "answers, number known"},
    {Source::holds, "holds"},
    {Source::clock, "answers and holds"},
};

/// A QUIC receiver: acknowledges each `every` packets, or after `delay`. If `reads` is true, it reads packets at random
/// times, 0.5 to 2.5 ms apart. Packets that it reads together get one acknowledgement.
struct Receiver {
  const char* name;
  std::int64_t every;
  Duration delay;
  bool reads = false;
};
constexpr Receiver every_second{"every 2", 2, milliseconds(25)};
constexpr Receiver receivers[] = {
    {"every 1", 1, milliseconds(25)},          every_second,
    {"every 10", 10, milliseconds(25)},        {"reads", 2, milliseconds(25), true},
    {"each 25 ms", 1 << 30, milliseconds(25)},
};

struct Settings {
  Source source = Source::clock;
  Receiver receiver = every_second;
  std::string link;  ///< a number of Mb/s, or a file of transmission opportunities
  Duration duration = seconds(300);
  double loss = 0;    ///< share of packets that the radio link loses
  Duration grant{};   ///< period of the uplink; zero: the UE sends at once
  double others = 0;  ///< datagrams per second of another kind from the UE, in the same flow
};

struct Result {
  double use = 0;
  double median_ms = 0;
  double p95_ms = 0;
};

/// One run. Events are functions at an instant; those of one instant run in the order in which they were added.
class Run {
 public:
  explicit Run(const Settings& settings) : settings_(settings) {}
  Result run() {
    at(start, [this] { send_all(); });
    at(start, [this] { probe_timeout(); });
    at(start, [this] { tick(); });
    if (settings_.others > 0) at(start, [this] { send_other(); });
    if (settings_.receiver.reads) at(start, [this] { read(); });
    begin_link();
    const Instant end = start + settings_.duration;
    while (!events_.empty() && events_.top().when < end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.when;
      event.action();
    }
    std::sort(delays_.begin(), delays_.end());
    const auto quantile = [this](double share) {
      return delays_.empty() ? 0
                             : 1e3 * delays_[static_cast<std::size_t>(share * static_cast<double>(delays_.size() - 1))];
    };
    return {used_ / capacity_, quantile(0.5), quantile(0.95)};
  }

 private:
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> action;
    bool operator<(const Event& other) const { return when != other.when ? when > other.when : number > other.number; }
  };
  struct Packet {
    std::int64_t number;
    Instant queued_at{};  ///< time at which it reached the queue that it waits in
    bool is_behind_drop = false;
  };
  struct Sent {
    std::int64_t number;
    Instant when;
    bool is_behind_drop;
  };
  using Range = std::pair<std::int64_t, std::int64_t>;

  void at(Instant when, std::function<void()> action) { events_.push({when, events_added_++, std::move(action)}); }
  void after(Duration delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }
  [[nodiscard]] bool counts() const { return now_ >= start + warm_up; }

  // Sender: CUBIC (RFC 9438) over QUIC's loss detection by packet numbers (RFC 9002).
  void send_all() {
    while (static_cast<double>(unacked_.size()) < window_) {
      const std::int64_t number = next_++;
      if (unacked_.empty()) progress_ = now_;
      unacked_[number] = now_;
      after(core_delay, [this, number] { on_core({number, now_}); });
    }
  }
  void probe_timeout() {
    const double wait = std::max(srtt_ > 0 ? srtt_ * 1.5 + 0.025 : 1.0, 0.1) * (1 << std::min(backoff_, 6));
    if (!unacked_.empty() && to_seconds(now_ - progress_) > wait) {
      ++backoff_;
      progress_ = now_;
      const std::int64_t number = next_++;
      unacked_[number] = now_;
      after(core_delay, [this, number] { on_core({number, now_}); });
    }
    after(milliseconds(20), [this] { probe_timeout(); });
  }
  void on_acknowledged(const std::vector<Range>& ranges) {
    const std::int64_t newest = ranges.back().second;
    std::int64_t newly = 0;
    Instant sent{};
    for (const auto& [first, last] : ranges) {
      auto it = unacked_.lower_bound(first);
      while (it != unacked_.end() && it->first <= last) {
        if (it->first == newest) sent = it->second;
        ++newly;
        it = unacked_.erase(it);
      }
    }
    if (newly == 0) return;
    backoff_ = 0;
    progress_ = now_;
    largest_ = std::max(largest_, newest);
    if (sent != Instant{}) srtt_ += (to_seconds(now_ - sent) - srtt_) * (srtt_ > 0 ? 0.125 : 1);
    std::int64_t lost = -1;
    while (!unacked_.empty() && unacked_.begin()->first <= largest_ - 3) {
      lost = unacked_.begin()->first;
      unacked_.erase(unacked_.begin());
    }
    if (lost >= 0) {
      on_loss(lost);
    } else if (newest > recovery_until_) {
      grow(static_cast<double>(newly));
    }
    send_all();
  }
  void on_loss(std::int64_t number) {
    if (number <= recovery_until_) return;
    recovery_until_ = next_ - 1;
    maximum_ = window_ < maximum_ ? window_ * 0.85 : window_;
    window_ = threshold_ = std::max(2.0, window_ * 0.7);
    epoch_ = Instant{};
  }
  void grow(double newly) {
    constexpr double most = 8.0 * (1 << 20) / static_cast<double>(full);
    if (window_ < threshold_) {
      window_ = std::min(window_ + newly, most);
      return;
    }
    if (epoch_ == Instant{}) {
      epoch_ = now_;
      inflection_ = std::cbrt(std::max(0.0, maximum_ - window_) / 0.4);
      maximum_ = std::max(maximum_, window_);
      reno_ = window_;
    }
    reno_ += 0.53 * newly / window_;
    const double cubic = 0.4 * std::pow(to_seconds(now_ - epoch_) + srtt_ - inflection_, 3) + maximum_;
    const double target = std::max(cubic, reno_);
    if (target > window_) window_ += std::min((target - window_) / window_ * newly, newly / 2);
    window_ = std::min(window_, most);
  }

  // Receiver.
  void on_ue(const Packet& packet) {
    const bool is_behind_gap = packet.number != newest_received_ + 1;
    newest_received_ = std::max(newest_received_, packet.number);
    if (!received_.empty() && received_.back().second + 1 == packet.number) {
      received_.back().second = packet.number;
    } else {
      received_.emplace_back(packet.number, packet.number);
      if (received_.size() > 40) received_.erase(received_.begin());
    }
    ++pending_;
    if (settings_.receiver.reads) return;
    if (pending_ >= settings_.receiver.every || is_behind_gap) {
      answer();
    } else if (pending_ == 1) {
      const std::uint64_t timer = answers_;
      after(settings_.receiver.delay, [this, timer] {
        if (timer == answers_ && pending_ > 0) answer();
      });
    }
  }
  void read() {
    if (pending_ >= settings_.receiver.every || now_ - answered_at_ > settings_.receiver.delay) {
      if (pending_ > 0) answer();
    }
    after(from_seconds(std::uniform_real_distribution<>(0.0005, 0.0025)(random_)), [this] { read(); });
  }
  void answer() {
    answered_at_ = now_;
    pending_ = 0;
    ++answers_;
    const std::size_t from = received_.size() > 8 ? received_.size() - 8 : 0;
    std::vector<Range> ranges(received_.begin() + static_cast<std::ptrdiff_t>(from), received_.end());
    to_proxy([this, ranges] {
      on_answer(ranges.back().second);
      after(core_delay, [this, ranges] { on_acknowledged(ranges); });
    });
  }
  void to_proxy(std::function<void()> action) {
    Instant when = now_;
    if (settings_.grant > Duration::zero())
      when = Instant((now_.time_since_epoch() / settings_.grant + 1) * settings_.grant);
    at(when + radio_delay, std::move(action));
  }
  void send_other() {
    to_proxy([this] { on_answer(-1); });
    after(from_seconds(1 / settings_.others), [this] { send_other(); });
  }

  // Radio link.
  void begin_link() {
    if (const double rate = std::atof(settings_.link.c_str()); rate > 0) {
      bytes_per_tti_ = rate * 1e6 / 8 / 1e3;
      at(start, [this] { constant_tti(); });
      return;
    }
    std::ifstream file(settings_.link);
    for (std::int64_t when = 0; file >> when;) opportunities_.push_back(when);
    if (opportunities_.empty()) throw std::runtime_error("cannot read " + settings_.link);
    at(start, [this] { recorded_opportunity(); });
  }
  void constant_tti() {
    owed_ += bytes_per_tti_;
    const auto bytes = static_cast<std::int64_t>(owed_);
    owed_ -= static_cast<double>(bytes);
    transmit(bytes);
    after(milliseconds(1), [this] { constant_tti(); });
  }
  void recorded_opportunity() {
    transmit(full);
    const std::int64_t length = opportunities_.back();
    ++opportunity_;
    const auto passes = static_cast<std::int64_t>(opportunity_ / opportunities_.size());
    const std::int64_t next = opportunities_[opportunity_ % opportunities_.size()] + passes * length;
    at(std::max(now_, start + milliseconds(next)), [this] { recorded_opportunity(); });
  }
  void transmit(std::int64_t bytes) {
    if (counts()) capacity_ += static_cast<double>(bytes);
    while (bytes > 0 && !radio_.empty()) {
      if (head_left_ == 0) head_left_ = full;
      const std::int64_t sent = std::min(bytes, head_left_);
      head_left_ -= sent;
      bytes -= sent;
      if (counts()) used_ += static_cast<double>(sent);
      if (head_left_ > 0) return;
      const Packet packet = radio_.front();
      radio_.pop_front();
      if (counts()) delays_.push_back(to_seconds(now_ - packet.queued_at));
      if (settings_.loss == 0 || std::uniform_real_distribution<>(0, 1)(random_) >= settings_.loss) on_ue(packet);
    }
  }

  // Proxy: the queue of the flow, CoDel, and the window of the ACK-based controller.
  void on_core(Packet packet) {
    packet.queued_at = now_;
    const double rate = law_.rate().bytes_per_second();
    const double bound = rate > 0 && is_limited() ? std::max(8.0, rate * 0.32 / full) : 128;
    if (static_cast<double>(waiting_.size()) >= bound) drop();
    waiting_.push_back(packet);
    release();
  }
  void drop() {
    waiting_.pop_front();
    behind_drop_ = true;
    if (clock_) clock_->on_dropped();
  }
  [[nodiscard]] bool is_limited() const {
    switch (settings_.source) {
      case Source::nothing:
        return false;
      case Source::clock:
        return clock_ && clock_->counts();
      default:
        return true;
    }
  }
  [[nodiscard]] bool holds() const { return clock_ && clock_->holds(); }
  void release() {
    while (!waiting_.empty() && !holds()) {
      const bool is_probe = clock_ && clock_->probes() > 0;
      if (settings_.source == Source::holds) {
        if (is_held_ || now_ < next_release_) return;
      } else if (is_limited() && !is_probe && flight_ + full > law_.window(now_).count()) {
        return;
      }
      if (is_limited()) {
        const Duration interval = std::max<Duration>(milliseconds(400), 2 * law_.srtt());
        const Bytes backlog(static_cast<std::int64_t>(waiting_.size()) * full);
        if (codel_.should_drop({interval / 4, interval}, now_ - waiting_.front().queued_at, backlog, now_)) {
          drop();
          continue;
        }
      }
      send(waiting_.front());
      waiting_.pop_front();
    }
  }
  void send(const Packet& packet) {
    after(radio_delay, [this, packet] { radio_.push_back({packet.number, now_}); });
    switch (settings_.source) {
      case Source::nothing:
        return;
      case Source::holds:
        ++sent_since_;
        next_release_ = std::max(next_release_, now_ - milliseconds(2)) + from_seconds(full / release_rate_);
        return;
      case Source::clock:
        if (!clock_ && ++datagrams_ >= 100 && now_ >= excluded_until_) clock_.emplace(now_);
        if (clock_) {
          if (clock_->counts() && flight_ <= 0) law_.on_resumed(now_);
          clock_->on_sent(now_, Bytes(full));
          flight_ = clock_->in_flight().count();
        }
        return;
      default:
        if (flight_ <= 0) law_.on_resumed(now_);
        flight_ += full;
        in_flight_.push_back({packet.number, now_, behind_drop_});
        behind_drop_ = false;
    }
  }
  /// An answer has come; `newest` is the number of the packet that caused it, or -1 for a datagram of another kind.
  void on_answer(std::int64_t newest) {
    switch (settings_.source) {
      case Source::nothing:
        break;
      case Source::acknowledgements:
        if (newest >= 0) count([newest](const Sent& sent) { return sent.number <= newest; });
        break;
      case Source::known_answers:
        count([left = settings_.receiver.every, behind = false](const Sent& sent) mutable {
          if (left-- <= 0 || behind) return false;
          behind = sent.is_behind_drop;
          return true;
        });
        break;
      case Source::holds:
        last_answer_ = now_;
        break;
      case Source::clock:
        on_clocked_answer();
        break;
    }
    release();
  }
  template <typename Belongs>
  void count(Belongs belongs) {
    std::int64_t bytes = 0;
    Instant sent{};
    while (!in_flight_.empty() && belongs(in_flight_.front())) {
      bytes += full;
      sent = in_flight_.front().when;
      in_flight_.pop_front();
    }
    flight_ -= bytes;
    if (bytes > 0) inform(Bytes(bytes), now_ - sent, !waiting_.empty());
  }
  void on_clocked_answer() {
    if (!clock_) return;
    const bool was_known = clock_->counts();
    const control::AnswerClock::Delivery delivery = clock_->on_answer(now_, !waiting_.empty());
    flight_ = clock_->in_flight().count();
    if (clock_->has_given_up()) return give_up();
    if (clock_->counts() && !was_known) law_.seed(now_, clock_->drained_rate());
    const bool is_paused = clock_->holds() || clock_->probes() > 0;
    if (delivery.delivered > Bytes{}) inform(delivery.delivered, delivery.round_trip, !waiting_.empty() && !is_paused);
  }
  void inform(Bytes delivered, Duration round_trip, bool window_limited) {
    control::AckSample sample;
    sample.now = now_;
    sample.delivered = delivered;
    sample.round_trip = round_trip;
    sample.in_flight = Bytes(flight_);
    sample.window_limited = window_limited;
    law_.on_acknowledged(sample);
  }
  void give_up() {
    clock_.reset();
    flight_ = 0;
    datagrams_ = 0;
    excluded_until_ = now_ + seconds(120) * (1 << exclusions_++);
  }
  void tick() {
    if (clock_) {
      clock_->on_time(now_, !waiting_.empty() && flight_ + full > law_.window(now_).count());
      flight_ = clock_->in_flight().count();
      if (clock_->has_given_up()) give_up();
    }
    if (settings_.source == Source::holds) hold();
    release();
    after(milliseconds(1), [this] { tick(); });
  }
  /// Rate control by holds alone: each second nothing is sent until the answers cease. The hold shows the length of the
  /// queue, and the bytes that were delivered since the last one show the rate.
  void hold() {
    constexpr Duration silence = milliseconds(35);
    if (!is_held_) {
      if (now_ < next_hold_ || waiting_.empty()) return;
      is_held_ = true;
      held_since_ = now_;
    } else if (now_ - std::max(last_answer_, held_since_ + 2 * radio_delay) > silence) {
      const double queue = std::max(0.0, to_seconds(last_answer_ - held_since_ - 2 * radio_delay));
      const double busy = std::max(0.05, to_seconds(std::max(last_answer_, held_since_) - began_));
      const double rate = static_cast<double>(sent_since_ * full) / busy;
      release_rate_ = std::max(rate * (1 + std::clamp((0.05 - queue) / 0.2, -0.5, 0.25)), 12500.0);
      is_held_ = false;
      sent_since_ = 0;
      began_ = now_ + 2 * radio_delay;
      next_hold_ = now_ + seconds(1);
      next_release_ = now_;
    }
  }

  const Settings settings_;
  Instant now_ = start;
  std::priority_queue<Event> events_;
  std::uint64_t events_added_ = 0;
  std::mt19937_64 random_{1};

  double window_ = 10;
  double threshold_ = 1e9;
  double maximum_ = 0;
  double inflection_ = 0;
  double reno_ = 0;
  double srtt_ = 0;
  int backoff_ = 0;
  Instant epoch_{};
  Instant progress_{};
  std::int64_t next_ = 0;
  std::int64_t largest_ = -1;
  std::int64_t recovery_until_ = -1;
  std::map<std::int64_t, Instant> unacked_;

  std::vector<Range> received_;
  std::int64_t newest_received_ = -1;
  std::int64_t pending_ = 0;
  std::uint64_t answers_ = 0;
  Instant answered_at_{};

  std::deque<Packet> radio_;
  std::int64_t head_left_ = 0;
  double bytes_per_tti_ = 0;
  double owed_ = 0;
  std::vector<std::int64_t> opportunities_;
  std::size_t opportunity_ = 0;
  double capacity_ = 0;
  double used_ = 0;
  std::vector<double> delays_;

  control::DelayBasedController law_;
  proxy::Codel codel_;
  std::deque<Packet> waiting_;
  std::deque<Sent> in_flight_;
  std::int64_t flight_ = 0;
  bool behind_drop_ = false;
  std::optional<control::AnswerClock> clock_;
  std::int64_t datagrams_ = 0;
  Instant excluded_until_{};
  int exclusions_ = 0;
  bool is_held_ = false;
  double release_rate_ = 125'000;
  std::int64_t sent_since_ = 0;
  Instant last_answer_{};
  Instant held_since_{};
  Instant began_ = start;
  Instant next_hold_ = start + seconds(1);
  Instant next_release_{};
};

void print(const Result& result) {
  std::cout << std::fixed << std::setprecision(1) << 100 * result.use << " %, " << std::setprecision(0)
            << result.median_ms << " ms, " << result.p95_ms << " ms | " << std::flush;
}

int run(const std::string& folder, Duration duration) {
  const std::vector<std::pair<std::string, std::string>> links = {
      {"Verizon LTE", folder + "/Verizon-LTE-short.down"},
      {"T-Mobile UMTS", folder + "/TMobile-UMTS-driving.down"},
      {"AT&T LTE", folder + "/ATT-LTE-driving.down"},
      {"1 Mb/s", "1"},
      {"5 Mb/s", "5"},
      {"20 Mb/s", "20"},
      {"100 Mb/s", "100"}};
  for (const auto& [name, link] : links) {
    std::cout << "| " << name << " | ";
    for (const auto& [source, text] : sources) {
      Settings settings;
      settings.source = source;
      settings.link = link;
      settings.duration = duration;
      print(Run(settings).run());
    }
    std::cout << '\n';
  }
  std::cout << '\n';
  for (const auto& [name, link] : links) {
    std::cout << "| " << name << " | ";
    Settings settings;
    settings.link = link;
    settings.duration = duration;
    for (const Receiver& receiver : receivers) {
      settings.receiver = receiver;
      print(Run(settings).run());
    }
    settings.receiver = every_second;
    settings.grant = milliseconds(10);
    print(Run(settings).run());
    settings.grant = Duration::zero();
    settings.others = 50;
    print(Run(settings).run());
    std::cout << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: quic_answers FOLDER_OF_TRACES [seconds]\n";
    return 1;
  }
  try {
    return sluice::run(argv[1], sluice::from_seconds(argc > 2 ? std::atof(argv[2]) : 300));
  } catch (const std::exception& error) {
    std::cerr << "quic_answers: " << error.what() << '\n';
    return 1;
  }
}

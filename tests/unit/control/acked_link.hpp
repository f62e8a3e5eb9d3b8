#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "control/ack_based/delay_based_controller.hpp"

namespace sluice::control::test {

/// A competing connection to the same UE that fills the queue. Its window grows until a packet finds the buffer full
/// and is then reduced to 0.7.
struct Rival {
  std::int64_t from = 0, to = 0;  ///< time in which it has data to send, ms
  std::int64_t round_trip = 30;   ///< without the queue, ms
  double window = 15'000;
  double grows_until = 1e9;  ///< twofold with each round trip up to this, then by four packets
  double in_flight = 0;
  std::int64_t cut_until = 0;
  std::deque<std::int64_t> returning;  ///< when what was served is acknowledged
  std::deque<std::int64_t> lost;       ///< when what found the buffer full is missed
};

/// A radio link whose sender receives only ACKs. A source with `demand` sends over a wire and a queue to a link whose
/// capacity changes every millisecond. The UE delays ACKs, and the uplink sends when it has a grant. The estimates of
/// the controller are recorded beside the true values. Steps last one millisecond; the arguments alone decide
/// everything.
struct AckedLink {
  using Milliseconds = std::int64_t;

  DelayBasedParameters parameters;
  /// Bytes the link could carry in this millisecond.
  std::function<double(Milliseconds)> capacity;
  /// Bytes the source produces in this millisecond; greedy when unset.
  std::function<double(Milliseconds)> demand;
  /// Bytes of other senders that enter the UE's queue in this millisecond; none when unset.
  std::function<double(Milliseconds)> foreign;
  std::optional<Rival> rival;
  Milliseconds report_period = 0;  ///< a report of the queue, ten milliseconds old; 0 = none
  /// Delay from the sender to the queue, and from the UE back. A change applies to packets sent afterwards.
  std::function<Milliseconds(Milliseconds)> down = [](Milliseconds) { return 10; };
  std::function<Milliseconds(Milliseconds)> up = [](Milliseconds) { return 10; };
  /// Acknowledgements leave the UE only in such milliseconds; always when unset.
  std::function<bool(Milliseconds)> uplink_speaks;
  Milliseconds grant_delay = 0;  ///< between then and their leaving
  int segments_per_ack = 1;
  Milliseconds delayed_ack = 40;
  double packet_loss = 0;  ///< on the air
  Bytes buffer{};          ///< limit of the radio queue; 0 = unlimited
  Bytes packet{1500};
  std::uint64_t seed = 1;
  Milliseconds warmup = 0;  ///< not counted in the result

  struct Result {
    double utilisation = 0;
    double delay_p50_ms = 0;  ///< per packet, in the radio queue
    double delay_p95_ms = 0;
    double delivered = 0;
    double capacity_bps = 0;
    // Each millisecond:
    std::vector<double> queue;     ///< true, bytes
    std::vector<double> believed;  ///< the law's idea of it
    std::vector<double> served;    ///< bytes of ours
    std::vector<double> theirs;    ///< bytes of the rival
    std::vector<double> in_flight;
    std::vector<double> window;
    std::vector<double> base_ms;  ///< base delay as the law has it
    std::vector<double> rate_bps;
    std::uint32_t drains = 0;
    std::uint64_t losses = 0;  ///< packets marked lost because later ones were acknowledged
    /// Bytes of ours served in [from, to).
    [[nodiscard]] double served_in(Milliseconds from, Milliseconds to) const {
      double sum = 0;
      for (Milliseconds i = from; i < to; ++i) sum += served[static_cast<std::size_t>(i)];
      return sum;
    }
  };
  [[nodiscard]] Result run(Milliseconds duration);

 private:
  struct Packet {
    Milliseconds sent = 0;
    Milliseconds arrival = 0;
    double left = 0;
    std::uint64_t number = 0;  ///< number of our packet, from 1; 0: cross traffic
    bool again = false;        ///< a repetition: its round trip proves nothing
  };
  static Instant at(Milliseconds ms) { return Instant(std::chrono::milliseconds(ms + 100'000)); }

  void serve(Milliseconds now, Result& result);
  void acknowledge(Milliseconds now);
  void arrive(Milliseconds now);
  [[nodiscard]] bool enter(Milliseconds now, Packet coming);
  void compete(Milliseconds now);
  void report(Milliseconds now, DelayBasedController& law);
  void ack(Milliseconds now, DelayBasedController& law);
  void notify(Milliseconds now, AckSample ack_sample, std::uint64_t newest, DelayBasedController& law);
  void send(Milliseconds now, DelayBasedController& law);
  void put(Milliseconds now, bool again);

  std::mt19937_64 random_;
  std::deque<std::pair<Milliseconds, double>> reports_;
  std::deque<Packet> wire_, queue_, held_;
  std::deque<std::pair<Milliseconds, Packet>> granted_, returning_;
  std::deque<Packet> outstanding_;
  std::vector<double> delays_;
  double queued_ = 0, offered_ = 0, served_ = 0, backlog_ = 0, in_flight_ = 0;
  double cross_traffic_ = 0;  ///< bytes of cross traffic since the last ACK sample
  int lost_ = 0;              ///< packets to be sent again
  std::uint64_t result_losses_ = 0;
  std::uint64_t next_ = 1;
  bool waited_ = false;
  Milliseconds last_ack_ = 0;
};

inline AckedLink::Result AckedLink::run(Milliseconds duration) {
  DelayBasedController law(parameters);
  random_.seed(seed);
  Result result;
  for (Milliseconds now = 0; now < duration; ++now) {
    serve(now, result);
    acknowledge(now);
    arrive(now);
    ack(now, law);
    report(now, law);
    if (demand) backlog_ += demand(now);
    send(now, law);
    result.queue.push_back(queued_);
    result.in_flight.push_back(in_flight_);
    result.window.push_back(static_cast<double>(law.window().count()));
    result.believed.push_back(static_cast<double>(law.queued(Bytes(in_flight_)).count()));
    result.base_ms.push_back(to_milliseconds(law.base_delay()));
    result.rate_bps.push_back(law.rate().bps());
  }
  std::sort(delays_.begin(), delays_.end());
  const auto part = [&](double share) {
    return delays_.empty() ? 0 : delays_[static_cast<std::size_t>(share * static_cast<double>(delays_.size() - 1))];
  };
  result.utilisation = offered_ > 0 ? served_ / offered_ : 0;
  result.delay_p50_ms = part(0.5);
  result.delay_p95_ms = part(0.95);
  result.delivered = served_;
  result.capacity_bps = offered_ * 8000 / static_cast<double>(duration - warmup);
  result.drains = law.drains();
  result.losses = result_losses_;
  return result;
}

inline void AckedLink::serve(Milliseconds now, Result& result) {
  double room = capacity(now);
  const bool counts = now >= warmup;
  if (counts) offered_ += room;
  double ours = 0, theirs = 0;
  while (room > 1e-9 && !queue_.empty()) {
    Packet& first = queue_.front();
    const double part = std::min(room, first.left);
    first.left -= part;
    room -= part;
    queued_ -= part;
    (first.number != 0 ? ours : theirs) += part;
    if (counts) served_ += part;
    if (first.left > 1e-9) break;
    if (first.number != 0) {
      if (counts) delays_.push_back(static_cast<double>(now - first.arrival));
      if (std::uniform_real_distribution<>()(random_) >= packet_loss) {
        first.arrival = now;
        held_.push_back(first);
      }
    }
    if (first.number == 0 && rival) rival->returning.push_back(now + rival->round_trip);
    queue_.pop_front();
  }
  result.served.push_back(ours);
  result.theirs.push_back(theirs);
}

/// The UE owes acknowledgements, and the uplink carries them when it is granted.
inline void AckedLink::acknowledge(Milliseconds now) {
  if (held_.size() >= static_cast<std::size_t>(segments_per_ack) ||
      (!held_.empty() && now - held_.front().arrival >= delayed_ack)) {
    for (const Packet& arrived : held_) granted_.emplace_back(now, arrived);
    held_.clear();
  }
  if (uplink_speaks && !uplink_speaks(now)) return;
  for (; !granted_.empty(); granted_.pop_front())
    returning_.emplace_back(now + grant_delay + up(now), granted_.front().second);
}

inline bool AckedLink::enter(Milliseconds now, Packet coming) {
  if (buffer > Bytes{} && queued_ + coming.left > static_cast<double>(buffer.count())) return false;
  coming.arrival = now;
  queue_.push_back(coming);
  queued_ += coming.left;
  return true;
}

inline void AckedLink::arrive(Milliseconds now) {
  for (std::size_t i = 0; i < wire_.size();) {
    if (wire_[i].arrival > now) {
      ++i;
      continue;
    }
    static_cast<void>(enter(now, wire_[i]));
    wire_.erase(wire_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (foreign) {
    if (const double bytes = foreign(now); bytes > 0) {
      cross_traffic_ += bytes;
      static_cast<void>(enter(now, Packet{now, now, bytes, 0, false}));
    }
  }
  if (rival) compete(now);
}

inline void AckedLink::compete(Milliseconds now) {
  constexpr double size = 1500;
  for (; !rival->returning.empty() && rival->returning.front() <= now; rival->returning.pop_front()) {
    rival->in_flight -= size;
    rival->window += rival->window < rival->grows_until ? size : 4 * size * size / rival->window;
  }
  for (; !rival->lost.empty() && rival->lost.front() <= now; rival->lost.pop_front()) {
    rival->in_flight -= size;
    if (now < rival->cut_until) continue;
    rival->window = rival->grows_until = std::max(0.7 * rival->window, 2 * size);
    rival->cut_until = now + rival->round_trip + static_cast<Milliseconds>(queued_ / std::max(capacity(now), 1.0));
  }
  while (now >= rival->from && now < rival->to && rival->in_flight + size <= rival->window) {
    cross_traffic_ += size;
    rival->in_flight += size;
    if (enter(now, Packet{now, now, size, 0, false})) continue;
    // The competitor detects the loss when the next packet is acknowledged.
    const auto acked = now + rival->round_trip + static_cast<Milliseconds>(queued_ / std::max(capacity(now), 1.0));
    rival->lost.push_back(acked);
  }
}

inline void AckedLink::report(Milliseconds now, DelayBasedController& law) {
  if (report_period <= 0) return;
  if (now % report_period == 0) reports_.emplace_back(now + 10, queued_);
  for (; !reports_.empty() && reports_.front().first <= now; reports_.pop_front())
    law.on_report(at(now), Bytes(reports_.front().second));
}

/// What the sender makes of what has come back, one acknowledgement after the other: packets that were overtaken are
/// lost, and after a second without any news so is everything.
inline void AckedLink::ack(Milliseconds now, DelayBasedController& law) {
  std::uint64_t newest = 0;
  AckSample ack_sample;
  for (std::size_t i = 0; i < returning_.size();) {
    if (returning_[i].first > now) {
      ++i;
      continue;
    }
    const Packet packet_back = returning_[i].second;
    returning_.erase(returning_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto known = std::find_if(outstanding_.begin(), outstanding_.end(),
                                    [&](const Packet& p) { return p.number == packet_back.number; });
    if (known == outstanding_.end()) continue;
    outstanding_.erase(known);
    ack_sample.delivered += packet;
    in_flight_ -= static_cast<double>(packet.count());
    if (!packet_back.again && packet_back.number > newest) {
      newest = packet_back.number;
      ack_sample.round_trip = std::chrono::milliseconds(now - packet_back.sent);
    }
    if (ack_sample.delivered >= packet * segments_per_ack) notify(now, std::exchange(ack_sample, {}), newest, law);
  }
  if (ack_sample.delivered > Bytes{}) notify(now, ack_sample, newest, law);
  if (last_ack_ == now) {
    waited_ = false;
  } else if (!outstanding_.empty() && now - last_ack_ >= 1000) {
    lost_ += static_cast<int>(outstanding_.size());
    outstanding_.clear();
    in_flight_ = 0;
    last_ack_ = now;
  }
}

inline void AckedLink::notify(Milliseconds now, AckSample ack_sample, std::uint64_t newest, DelayBasedController& law) {
  while (newest > 0 && !outstanding_.empty() && outstanding_.front().number + 3 < newest) {
    outstanding_.pop_front();
    in_flight_ -= static_cast<double>(packet.count());
    ++lost_;
    ++result_losses_;
    ack_sample.lost += packet;
  }
  last_ack_ = now;
  ack_sample.now = at(now);
  ack_sample.window_limited = waited_;
  ack_sample.in_flight = Bytes(in_flight_);
  ack_sample.cross_traffic = Bytes(std::exchange(cross_traffic_, 0.0));
  law.on_acknowledged(ack_sample);
}

inline void AckedLink::send(Milliseconds now, DelayBasedController& law) {
  const auto size = static_cast<double>(packet.count());
  const auto waits = [&] { return lost_ > 0 || !demand || backlog_ >= size; };
  if (in_flight_ <= 0 && waits()) {
    law.on_resumed(at(now));
    last_ack_ = now;
  }
  while (waits() && in_flight_ + size <= static_cast<double>(law.window(at(now)).count())) {
    const bool again = lost_ > 0;
    if (again) {
      --lost_;
    } else if (demand) {
      backlog_ -= size;
    }
    put(now, again);
  }
  if (waits()) waited_ = true;
}

inline void AckedLink::put(Milliseconds now, bool again) {
  const auto size = static_cast<double>(packet.count());
  const Packet sent{now, now + down(now), size, next_++, again};
  in_flight_ += size;
  wire_.push_back(sent);
  outstanding_.push_back(sent);
}

}  // namespace sluice::control::test

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "emulator/aqm/ecn.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Parameters of DualPI2; the defaults are those of RFC 9332, appendix A.1.
struct DualPi2Parameters {
  Duration target = std::chrono::milliseconds(15);   ///< target delay of the classic queue, > 0
  Duration tupdate = std::chrono::milliseconds(16);  ///< time between two updates of the probability, > 0
  double alpha = 0.16;  ///< gain in Hz on the difference between the delay and the target, > 0
  double beta = 3.2;    ///< gain on the change of the delay, Hz, > 0
  double coupling = 2;  ///< coupling factor (k), >= 1

  /// Delay above which a packet of the L queue is marked, > 0. On a link that sends only at intervals it must be longer
  /// than one interval, or packets are marked without congestion.
  Duration step = std::chrono::milliseconds(1);
  /// Time >= 0 by which packets of the L queue count as older than they are, when the queue that sends next is chosen.
  /// It gives these packets priority.
  Duration shift = std::chrono::milliseconds(30);

  /// Backlog of the L queue in bytes up to which no packet is marked for its delay alone. If both queues together
  /// contain at most twice as many bytes, no packet is marked or dropped.
  Bytes max_packet{1514};
};

/// Controller of DualPI2 (RFC 9332, appendix A). One PI controller computes the base probability p'. Classic packets
/// are marked or dropped with probability p'². L4S packets are marked with probability k·p', where k is the coupling
/// factor. No random numbers are used: the probabilities of successive packets are added up. Each time the sum exceeds
/// 1, one packet is marked or dropped (recur() of RFC 9332).
class DualPi2Control {
 public:
  /// Decision about a packet: send it unchanged, mark it with ECN, or drop it.
  enum class Verdict : std::uint8_t { pass, mark, drop };

  /// Creates the controller. Throws std::invalid_argument if a parameter is out of its range.
  explicit DualPi2Control(const DualPi2Parameters& parameters);

  /// Runs the updates of the probability that are due by `now`. Each update uses the queueing delay at the time for
  /// which it was due, so the queues must not have changed since the last call. `oldest` is the arrival time of the
  /// oldest packet of both queues, `now` if they are empty.
  void follow(Instant oldest, Instant now);
  /// Decides whether a packet of the L queue is sent unchanged, marked or dropped. Its queueing delay is `waited`, and
  /// `behind` bytes remain in the queue behind it.
  [[nodiscard]] Verdict judge_scalable(Duration waited, Bytes behind);
  /// Decides whether a packet of the classic queue is sent unchanged, marked or dropped. `ecn_capable` is true if the
  /// packet may be marked instead of dropped.
  [[nodiscard]] Verdict judge_classic(bool ecn_capable);
  /// Returns the base probability p', from which the probabilities of both queues are computed.
  [[nodiscard]] double base() const { return base_; }

 private:
  /// Adds the probability `likelihood` to `sum`. If the sum then exceeds 1, subtracts 1 from it and returns true.
  [[nodiscard]] static bool recur(double& sum, double likelihood);
  /// Runs one update of the PI controller. `delay` is the longest time for which a packet of the two queues has waited.
  void update(Duration delay);

  DualPi2Parameters parameters_;
  double base_ = 0;              ///< base probability p'
  Duration before_{};            ///< queueing delay at the last update
  std::optional<Instant> next_;  ///< time of the next update; empty before the first packet
  double scalable_sum_ = 0;      ///< running sum of the mark probabilities of L4S packets; reduced by 1 at each mark
  /// Running sum of the drop probabilities of L4S packets at overload; reduced by 1 at each drop.
  double scalable_drop_sum_ = 0;
  double classic_sum_ = 0;  ///< running sum of the probabilities of classic packets; reduced by 1 at each mark or drop
};

/// The two queues of DualPI2 and the choice between them. The packet with the earlier arrival time is sent next. For
/// that, packets of the L queue count as older by DualPi2Parameters::shift (time-shifted FIFO). So an L4S packet
/// overtakes a classic packet that arrived at most that much earlier. `Item` is Queued or a derived type; size_of(item)
/// returns the size of a packet in bytes.
template <typename Item>
class DualPi2Queues {
 public:
  explicit DualPi2Queues(const DualPi2Parameters& parameters)
      : control_(parameters), shift_(parameters.shift), max_packet_(parameters.max_packet) {}

  /// Queues a packet: ECT(1) and CE in the L queue (RFC 9331), others in the classic queue.
  void push(Item item) {
    Line& line = is_scalable(item.packet) ? scalable_ : classic_;
    control_.follow(oldest(item.since), item.since);
    line.bytes += size_of(item);
    line.queue.push(std::move(item));
  }
  [[nodiscard]] std::size_t size() const { return scalable_.queue.size() + classic_.queue.size(); }
  /// True if a packet that arrived before `now` waits.
  [[nodiscard]] bool ready(Instant now) const { return scalable_.ready(now) || classic_.ready(now); }
  /// Returns the packet that is sent next at `now`. Requires size() > 0.
  [[nodiscard]] const Item& front(Instant now) { return next_line(now).queue.front(); }
  /// Takes out the packet that is sent next at `now`, without marking or dropping packets. Requires size() > 0.
  [[nodiscard]] Item pop(Instant now) { return take(next_line(now)); }
  /// Takes out the packet that is sent at `now`. Only packets that arrived before `until` are considered. Returns
  /// nothing if none of them remains, because the control may drop packets first. `drop(item)` is called for each
  /// dropped packet, and `mark()` for each marked one.
  template <typename Drop, typename Mark>
  std::optional<Item> dequeue(Instant now, Instant until, Drop&& drop, Mark&& mark) {
    control_.follow(oldest(now), now);
    while (ready(until)) {
      Line& line = next_line(until);
      Item next = take(line);
      if (is_small(next)) return next;
      const auto verdict = &line == &scalable_ ? control_.judge_scalable(now - next.since, line.bytes)
                                               : control_.judge_classic(ecn_of(next.packet) != 0);
      if (verdict == DualPi2Control::Verdict::drop) {
        drop(next);
        continue;
      }
      if (verdict == DualPi2Control::Verdict::mark && mark_congestion(next.packet)) mark();
      return next;
    }
    return std::nullopt;
  }
  /// Returns the bytes that wait in the L queue.
  [[nodiscard]] Bytes scalable_bytes() const { return scalable_.bytes; }
  [[nodiscard]] const DualPi2Control& control() const { return control_; }

 private:
  /// The L queue or the classic queue, with the sum of the packet sizes in it.
  struct Line {
    Ring<Item> queue;
    Bytes bytes;
    [[nodiscard]] bool ready(Instant now) const { return !queue.empty() && queue.front().since < now; }
  };

  /// True if the queues contain at most two full packets, including `next`, which has been taken out already. Such a
  /// queue is not congested, as in PIE (RFC 8033 section 4.1). An outage raises the drop probability. Without this
  /// test, each retransmission after the outage would be dropped with that high probability.
  [[nodiscard]] bool is_small(const Item& next) const {
    return scalable_.bytes + classic_.bytes + size_of(next) <= max_packet_ * 2;
  }
  /// True for ECT(1) and CE, which identify L4S traffic (RFC 9331).
  [[nodiscard]] static bool is_scalable(const packet::Packet& packet) { return (ecn_of(packet) & 1U) != 0; }
  /// Returns the arrival time of the oldest packet, `now` if there is none.
  [[nodiscard]] Instant oldest(Instant now) const {
    Instant oldest = now;
    for (const Line* const line : {&scalable_, &classic_}) {
      if (!line->queue.empty()) oldest = std::min(oldest, line->queue.front().since);
    }
    return oldest;
  }
  /// Returns the queue that sends next. If the oldest packet of only one queue arrived before `now`, that queue is
  /// returned. Otherwise the arrival times decide, and those of the L queue count as earlier by `shift_`.
  Line& next_line(Instant now) {
    if (scalable_.queue.empty() || classic_.queue.empty()) return scalable_.queue.empty() ? classic_ : scalable_;
    if (scalable_.ready(now) != classic_.ready(now)) return scalable_.ready(now) ? scalable_ : classic_;
    return scalable_.queue.front().since - shift_ <= classic_.queue.front().since ? scalable_ : classic_;
  }
  Item take(Line& line) {
    Item oldest = line.queue.pop();
    line.bytes -= size_of(oldest);
    return oldest;
  }

  DualPi2Control control_;
  Duration shift_;
  Bytes max_packet_;
  Line scalable_;
  Line classic_;
};

/// DualPI2 (RFC 9332) as a router's queue with tail drop: low delay for L4S traffic, and about equal rates for L4S and
/// classic flows.
class DualPi2Queue final : public QueueDiscipline {
 public:
  /// Creates empty queues. Throws std::invalid_argument if a parameter is out of its range.
  DualPi2Queue(const QueueLimit& limit, const DualPi2Parameters& parameters) : limit_(limit), queues_(parameters) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  DualPi2Queues<Queued> queues_;
};

}  // namespace sluice::emulator

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

/// The defaults are those of RFC 9332, appendix A.1.
struct DualPi2Parameters {
  Duration target = std::chrono::milliseconds(15);   ///< delay of the classic queue, > 0
  Duration tupdate = std::chrono::milliseconds(16);  ///< between two updates of the probability, > 0
  double alpha = 0.16;                               ///< Hz: gain on the distance from the target, > 0
  double beta = 3.2;                                 ///< Hz: gain on the change of the delay, > 0
  double coupling = 2;                               ///< k, >= 1
  Duration step = std::chrono::milliseconds(1);    ///< delay above which a packet of the L queue is marked, > 0; a link
                                                   ///< that sends in intervals needs more than one of them
  Duration shift = std::chrono::milliseconds(30);  ///< by how much the L queue's packets count as older, >= 0
  Bytes max_packet{1514};  ///< an L queue of no more is not marked at the step, nor two of both queues at all
};

/// The probabilities of DualPI2 (RFC 9332, appendix A): one PI controller, squared for classic traffic, coupled
/// linearly to that of L4S. No randomness: likelihoods are summed up, and what comes to a whole is an event, as its
/// recur() does.
class DualPi2Control {
 public:
  enum class Verdict : std::uint8_t { pass, mark, drop };

  /// Throws std::invalid_argument when a parameter is out of its range.
  explicit DualPi2Control(const DualPi2Parameters& parameters);

  /// Updates are made up for until `now`; until then the queues were as they are. `oldest`: since when the oldest
  /// packet of either queue waits, or `now`.
  void follow(Instant oldest, Instant now);
  /// A packet of the L queue that has waited so long is to be sent; `behind` bytes remain.
  [[nodiscard]] Verdict judge_scalable(Duration waited, Bytes behind);
  /// A packet of the classic queue.
  [[nodiscard]] Verdict judge_classic(bool ecn_capable);
  /// p', of which the others are made.
  [[nodiscard]] double base() const { return base_; }

 private:
  [[nodiscard]] static bool recur(double& sum, double likelihood);
  void update(Duration delay);

  DualPi2Parameters parameters_;
  double base_ = 0;
  Duration before_{};  ///< the delay at the last update
  std::optional<Instant> next_;
  double scalable_sum_ = 0;
  double scalable_drop_sum_ = 0;
  double classic_sum_ = 0;
};

/// Both queues and who of them is next: the L queue's packets count as `shift` older than they are (a time-shifted
/// FIFO), so that they go first, and classic ones wait for them no longer than that. `Item` is
/// a Queued or what derives from it, its size in bytes is size_of(item).
template <typename Item>
class DualPi2Queues {
 public:
  explicit DualPi2Queues(const DualPi2Parameters& parameters)
      : control_(parameters), shift_(parameters.shift), max_packet_(parameters.max_packet) {}

  /// ECT(1) and CE go to the L queue (RFC 9331).
  void push(Item item) {
    Line& line = is_scalable(item.packet) ? scalable_ : classic_;
    control_.follow(oldest(item.since), item.since);
    line.bytes += size_of(item);
    line.queue.push(std::move(item));
  }
  [[nodiscard]] std::size_t size() const { return scalable_.queue.size() + classic_.queue.size(); }
  /// Something is there that came before `now`.
  [[nodiscard]] bool ready(Instant now) const { return scalable_.ready(now) || classic_.ready(now); }
  /// Whose turn it is. Requires size() > 0.
  [[nodiscard]] const Item& front(Instant now) { return turn(now).queue.front(); }
  /// Takes that out, whatever its delay. Requires size() > 0.
  [[nodiscard]] Item pop(Instant now) { return take(turn(now)); }
  /// The next packet to be sent at `now` of those that came before `until`, when there is one; `drop(item)` and
  /// `mark()` are told what is done before.
  template <typename Drop, typename Mark>
  std::optional<Item> dequeue(Instant now, Instant until, Drop&& drop, Mark&& mark) {
    control_.follow(oldest(now), now);
    while (ready(until)) {
      Line& line = turn(until);
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
  /// Bytes that wait in the L queue.
  [[nodiscard]] Bytes scalable_bytes() const { return scalable_.bytes; }
  [[nodiscard]] const DualPi2Control& control() const { return control_; }

 private:
  struct Line {
    Ring<Item> queue;
    Bytes bytes;
    [[nodiscard]] bool ready(Instant now) const { return !queue.empty() && queue.front().since < now; }
  };

  /// With what waits behind it no more than two packets: no queue to be told of, as in PIE (RFC 8033 section 4.1).
  /// Otherwise what the last outage left of the probability would drop every single repetition after it.
  [[nodiscard]] bool is_small(const Item& next) const {
    return scalable_.bytes + classic_.bytes + size_of(next) <= max_packet_ * 2;
  }
  [[nodiscard]] static bool is_scalable(const packet::Packet& packet) { return (ecn_of(packet) & 1U) != 0; }
  [[nodiscard]] Instant oldest(Instant now) const {
    Instant oldest = now;
    for (const Line* const line : {&scalable_, &classic_}) {
      if (!line->queue.empty()) oldest = std::min(oldest, line->queue.front().since);
    }
    return oldest;
  }
  /// What comes in this very instant misses it while the other queue has older packets.
  Line& turn(Instant now) {
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

/// DualPI2 (RFC 9332) as a router's queue: low delay for L4S traffic, and about the rate for it that classic flows get.
/// What finds no room is dropped.
class DualPi2Queue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  DualPi2Queue(const QueueLimit& limit, const DualPi2Parameters& parameters) : limit_(limit), queues_(parameters) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  DualPi2Queues<Queued> queues_;
};

}  // namespace sluice::emulator

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulator/aqm/codel.hpp"
#include "emulator/net/flow_key.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

struct FqCodelParameters {
  CodelParameters codel;
  std::uint32_t queues = 1024;  ///< that flows are hashed into, > 0
  Bytes quantum{1514};          ///< > 0
  std::uint64_t seed = 0;       ///< of the hash
};

/// The queues of Flow Queue CoDel (RFC 8290, section 4): flows hashed into queues, each under CoDel, served by deficit
/// round robin with queues that have just become busy first. `Item` is a Queued or what derives from it, its size in
/// bytes is size_of(item).
template <typename Item>
class FqCodelFlows {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  explicit FqCodelFlows(const FqCodelParameters& parameters) : quantum_(parameters.quantum), seed_(parameters.seed) {
    if (parameters.queues == 0 || parameters.quantum <= Bytes(0)) {
      throw std::invalid_argument("FQ-CoDel: there must be queues and a quantum");
    }
    flows_.reserve(parameters.queues);
    for (std::uint32_t i = 0; i < parameters.queues; ++i) flows_.emplace_back(parameters.codel);
  }

  void push(Item item) {
    const auto key = read_flow_key(item.packet.bytes());
    const auto number = static_cast<std::uint32_t>((key ? key->hash(seed_) : 0) % flows_.size());
    Flow& flow = flows_[number];
    ++size_;
    flow.bytes += size_of(item);
    flow.queue.push(std::move(item));
    if (flow.active) return;
    flow.active = true;
    flow.deficit = quantum_;
    new_.push_back(number);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The oldest of the flow whose turn it is. Requires size() > 0.
  [[nodiscard]] const Item& front() { return busy().queue.front(); }
  /// Takes that out, whatever its delay. Requires size() > 0.
  [[nodiscard]] Item pop() {
    Flow& flow = busy();
    Item oldest = take(flow);
    flow.deficit -= size_of(oldest);
    return oldest;
  }
  /// Takes the oldest of the fattest queue out. Requires size() > 0.
  [[nodiscard]] Item pop_fattest() {
    return take(*std::max_element(flows_.begin(), flows_.end(),
                                  [](const Flow& a, const Flow& b) { return a.bytes < b.bytes; }));
  }
  /// The next packet to be sent, when there is one; `drop(item)` and `mark()` are told what CoDel does before.
  template <typename Drop, typename Mark>
  std::optional<Item> dequeue(Instant now, Drop&& drop, Mark&& mark) {
    while (active() > 0) {
      Turns& turns = turn();
      Flow& flow = flows_[turns.front()];
      const auto pull = [&]() -> std::optional<Item> {
        if (flow.queue.empty()) return std::nullopt;
        return take(flow);
      };
      std::optional<Item> next = flow.control.dequeue(
          now, pull, [&] { return flow.bytes; }, drop, mark);
      if (next) {
        flow.deficit -= size_of(*next);
        return next;
      }
      retire(turns);
    }
    return std::nullopt;
  }
  /// Queues on the lists of new and of old ones.
  [[nodiscard]] std::size_t active() const { return new_.size() + old_.size(); }

 private:
  struct Flow {
    explicit Flow(const CodelParameters& parameters) : control(parameters) {}
    Ring<Item> queue;
    Bytes bytes;
    Bytes deficit;
    CodelControl control;
    bool active = false;
  };
  using Turns = std::list<std::uint32_t>;

  Item take(Flow& flow) {
    Item oldest = flow.queue.pop();
    flow.bytes -= size_of(oldest);
    --size_;
    return oldest;
  }
  /// The list whose first queue may send. Requires active() > 0.
  Turns& turn() {
    for (;;) {
      Turns& turns = new_.empty() ? old_ : new_;
      Flow& flow = flows_[turns.front()];
      if (flow.deficit > Bytes(0)) return turns;
      flow.deficit += quantum_;
      old_.splice(old_.end(), turns, turns.begin());
    }
  }
  /// The first queue of a list has nothing to send.
  void retire(Turns& turns) {
    // A new queue that ran empty goes behind the old ones once, so that it cannot come back as new at once
    // (section 4.2).
    if (&turns == &new_ && !old_.empty()) {
      old_.splice(old_.end(), turns, turns.begin());
    } else {
      flows_[turns.front()].active = false;
      turns.pop_front();
    }
  }
  /// The queue whose turn it is that has something to send.
  Flow& busy() {
    for (;;) {
      Turns& turns = turn();
      Flow& flow = flows_[turns.front()];
      if (!flow.queue.empty()) return flow;
      retire(turns);
    }
  }

  Bytes quantum_;
  std::uint64_t seed_;
  std::vector<Flow> flows_;
  Turns new_;
  Turns old_;
  std::size_t size_ = 0;
};

}  // namespace sluice::emulator
